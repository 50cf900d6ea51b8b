"""The plural of a kind, for the names of its resources: Policy → policies, Gateway → gateways.

Crossplane asks a library of English for it (flect); the rules are the same, so that the names are, too.
"""

from __future__ import annotations

from crossply.convert.plural_words import ACRONYMS, ENDINGS, WORDS


def plural_of(kind: str) -> str:
    """The plural of a kind in lower case. The last word of it is what is inflected."""
    last = _last_word(kind)
    if not last:
        return ""
    lower, stem = last.lower(), kind.lower()
    if last.upper() in ACRONYMS:
        return stem + ("es" if lower.endswith("s") else "s")
    if any(lower in (word.plural, word.other) for word in WORDS if not word.one_way):
        return stem
    for word in WORDS:
        if word.singular == lower:
            return stem.removesuffix(lower) + word.plural
    return _by_ending(stem, lower)


def _by_ending(stem: str, last: str) -> str:
    # Words also serve as endings, the latest in the list first; then come the endings proper.
    for singular, plural in [*_word_endings(), *ENDINGS]:
        if last.endswith(plural):
            return stem
        if last.endswith(singular):
            return stem.removesuffix(singular) + plural
    return stem if last.endswith("s") else f"{stem}s"


def _word_endings() -> list[tuple[str, str]]:
    return [(word.singular, word.plural) for word in reversed(WORDS) if not word.exact]


def _last_word(kind: str) -> str:
    """What follows the last change from small letters to a capital, or the last acronym."""
    if kind.upper() in ACRONYMS:
        return kind
    word = before = ""
    for char in kind:
        begins = char.isupper() and (not before.isupper() or word.upper() in ACRONYMS)
        word = char if begins else word + char
        before = char
    return word

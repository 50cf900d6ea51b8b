"""snakecase, kebabcase and camelcase, with the word boundaries of the library that sprig uses.

A text is a sequence of words, each of one character class. The rules about digits are those of the library:
a number belongs to the preceding word (Bld4Floor, bld4_floor), unless lower-case letters follow (http2xx,
http_2xx).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crossply.functions.builtin.go_templating.sprig import runes
from crossply.values.goquote import REPLACEMENT

_INVALID, _NUMBER, _UPPER, _ALPHABET, _CONNECTOR, _PUNCTUATION, _OTHER = range(7)
_LETTERS_AND_DIGITS = (_ALPHABET, _NUMBER)
_NEEDS_NO_CONNECTOR = (_CONNECTOR, _PUNCTUATION)
_IDEOGRAPHS = (("\u4e00", "\u9fcc"), ("\u3400", "\u4d85"), ("\U00020000", "\U0002b81d"))


class _Word(NamedTuple):
    sort: int
    text: str


_END = _Word(_INVALID, "")


def snakecase(text: str) -> str:
    """Words in lower case, joined by underscores."""
    return _Joining(_words(runes.walkable(text)), "_").joined()


def kebabcase(text: str) -> str:
    """Words in lower case, joined by hyphens."""
    return _Joining(_words(runes.walkable(text)), "-").joined()


class _Joining:
    """A cursor over the words of a text, and what was written so far."""

    __slots__ = ("_at", "_connector", "_words", "_written")

    def __init__(self, words: list[_Word], connector: str) -> None:
        self._words = words
        self._connector = connector
        self._at = 0
        self._written: list[str] = []

    def joined(self) -> str:
        while self._more():
            word = self._word()
            if word.sort != _CONNECTOR:
                self._write(word)
            self._at += 1
            self._join(word)
        self._write(self._word())
        return "".join(self._written)

    def _more(self) -> bool:
        return self._at + 1 < len(self._words)

    def _word(self) -> _Word:
        return self._words[self._at] if self._at < len(self._words) else _END

    def _join(self, before: _Word) -> None:
        """Write what stands between a word and the present one."""
        if before.sort == _NUMBER:
            self._write_letters_and_digits()
        elif before.sort == _CONNECTOR:
            self._write(before)
        elif before.sort == _PUNCTUATION:
            pass
        elif self._word().sort != _NUMBER:
            self._connect()
        elif self._more():
            self._join_number()

    def _join_number(self) -> None:
        number = self._word()
        self._at += 1
        if self._word().sort != _ALPHABET:
            self._write(number)
            self._connect()
            return
        self._written.append(self._connector)
        self._write(number)
        self._write_letters_and_digits()

    def _write_letters_and_digits(self) -> None:
        while self._word().sort in _LETTERS_AND_DIGITS:
            self._write(self._word())
            self._at += 1
        if self._word().sort != _INVALID:
            self._connect()

    def _connect(self) -> None:
        if self._word().sort not in _NEEDS_NO_CONNECTOR:
            self._written.append(self._connector)

    def _write(self, word: _Word) -> None:
        if word.sort in (_UPPER, _CONNECTOR):
            self._written += [self._lowered(char) for char in word.text]
        else:
            self._written.append(word.text)

    def _lowered(self, char: str) -> str:
        if _connects(char):
            return self._connector
        if _is_invalid(char):
            return REPLACEMENT
        return runes.lower(char) if runes.is_upper(char) else char


def _words(text: str) -> list[_Word]:
    words = []
    at = 0
    while at < len(text):
        sort, end = _word_at(text, at)
        words.append(_Word(sort, text[at:end]))
        at = end
    return words


def _word_at(text: str, at: int) -> tuple[int, int]:
    char, after = _valid_at(text, at, REPLACEMENT)
    if char == REPLACEMENT:
        return _INVALID, after
    if _connects(char):
        return _CONNECTOR, _run(text, after, char, _connects)
    if runes.is_punctuation(char):
        return _PUNCTUATION, _run(text, after, char, runes.is_punctuation)
    if runes.is_upper(char):
        return _UPPER, _upper_end(text, after, char)
    if _is_alphabetic(char):
        return _ALPHABET, _run(text, after, char, _continues_word)
    if runes.is_number(char):
        return _NUMBER, _run(text, after, char, runes.is_number)
    return _OTHER, _run(text, after, char, _is_other)


def _valid_at(text: str, at: int, before: str) -> tuple[str, int]:
    """The next character that is UTF-8, and where it ends; the one before, when there is none."""
    while at < len(text):
        char = text[at]
        at += 1
        if not _is_invalid(char):
            return char, at
    return before, at


def _run(text: str, at: int, char: str, belongs: Callable[[str], bool]) -> int:
    while at < len(text):
        char, after = _valid_at(text, at, char)
        if not belongs(char):
            break
        at = after
    return at


def _upper_end(text: str, at: int, char: str) -> int:
    """Where a word ends that begins in upper case: HTTPStatus is HTTP and Status."""
    if at == len(text):
        return at
    char, after = _valid_at(text, at, char)
    if not runes.is_upper(char):
        return _run(text, after, char, _continues_word) if _is_alphabetic(char) else at
    last = at
    at = after
    while at < len(text):
        char, after = _valid_at(text, at, char)
        if not runes.is_upper(char):
            break
        last, at = at, after
    return last if at < len(text) and _is_alphabetic(char) else at


def _is_invalid(char: str) -> bool:
    return char == REPLACEMENT or "\ud800" <= char <= "\udfff"


def _connects(char: str) -> bool:
    return char in "-_" or runes.is_space(char)


def _is_alphabetic(char: str) -> bool:
    return runes.is_letter(char) and not any(first <= char <= last for first, last in _IDEOGRAPHS)


def _continues_word(char: str) -> bool:
    return _is_alphabetic(char) and not runes.is_upper(char)


def _is_other(char: str) -> bool:
    return not (
        _connects(char) or _is_alphabetic(char) or runes.is_number(char) or runes.is_punctuation(char)
    )


def camelcase(text: str) -> str:
    """Words joined, each with a capital; leading connectors stay, and one of two that follow each other."""
    text = runes.walkable(runes.runes(text))
    leading = len(text) - len(text.lstrip("-_" + runes.SPACES))
    if leading == len(text):
        # Nothing but connectors: the library writes the last one twice.
        return text + text[-1:]
    return text[:leading] + _camel(text[leading:])


def _camel(text: str) -> str:
    """Write every character but connectors between words, one step behind reading."""
    written = []
    before = runes.upper(text[0])
    lowering = runes.is_upper(text[0])
    for char in text[1:]:
        if _connects(before) and _connects(char):
            written.append(before)
        elif _connects(before):
            lowering = runes.is_upper(char)
            char = runes.upper(char)
        else:
            written.append(before)
            lowering = lowering and runes.is_upper(char)
            char = runes.lower(char) if lowering else char
        before = char
    return "".join([*written, before])

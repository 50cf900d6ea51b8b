"""Which ImageConfig is for an image, and what it makes of it.

Of the configurations that have a section the one with the longest matching prefix is chosen, each section by
itself; of two that match as long, the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from crossply.values import Object

REWRITE = ("rewriteImage",)
AUTHENTICATION = ("registry", "authentication")
VERIFICATION = ("verification",)
RUNTIME = ("runtime",)


class Chosen(NamedTuple):
    """A configuration that is for an image, and the prefix by which it is."""

    config: Object
    prefix: str

    @property
    def name(self) -> str:
        """Its name."""
        return str((self.config.get("metadata") or {}).get("name", ""))


def choose(configs: Iterable[Object], image: str, section: Sequence[str]) -> Chosen | None:
    """The configuration with this section that is for an image."""
    best: Chosen | None = None
    for config in configs:
        spec = config.get("spec") or {}
        if _find(spec, section) is None:
            continue
        prefix = _longest(spec.get("matchImages") or (), image)
        if prefix is not None and (best is None or len(prefix) > len(best.prefix)):
            best = Chosen(config, prefix)
    return best


def _longest(matches: Iterable[Any], image: str) -> str | None:
    """The longest prefix of an image among those listed."""
    found = [
        each["prefix"]
        for each in matches
        if isinstance(each, dict) and isinstance(each.get("prefix"), str) and image.startswith(each["prefix"])
    ]
    return max(found, key=len, default=None)


def _find(spec: Object, section: Sequence[str]) -> Any:
    found: Any = spec
    for name in section:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def prefixes(config: Object) -> list[str]:
    """What the images begin with that a configuration is for."""
    matches = (config.get("spec") or {}).get("matchImages") or ()
    return [str(each.get("prefix") or "") for each in matches if isinstance(each, dict)]


def rewritten(configs: Iterable[Object], image: str) -> tuple[str, str]:
    """The image to pull instead, and the name of the configuration that says so; empty for none."""
    chosen = choose(configs, image, REWRITE)
    if chosen is None:
        return image, ""
    prefix = chosen.config["spec"]["rewriteImage"].get("prefix") or ""
    return f"{prefix}{image[len(chosen.prefix) :]}", chosen.name


def pull_secret(configs: Iterable[Object], image: str) -> tuple[str, str]:
    """The name of the Secret to pull an image with, and of the configuration that says so; empty for none."""
    chosen = choose(configs, image, AUTHENTICATION)
    if chosen is None:
        return "", ""
    section = _find(chosen.config["spec"], AUTHENTICATION)
    return str((section.get("pullSecretRef") or {}).get("name") or ""), chosen.name

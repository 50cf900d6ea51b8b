"""Which ImageConfig is for an image, and what it makes of it.

Of the configurations that have a section the one with the longest matching prefix is chosen, each section by
itself; of two that match as long, the first. An image matches however its registry is spelled: a signature
that is required cannot be avoided by writing a host in capitals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from crossply.values import Object
from crossply.xpkg.image_reference import spellings

REWRITE = ("rewriteImage",)
AUTHENTICATION = ("registry", "authentication")
VERIFICATION = ("verification",)


class SelectedConfig(NamedTuple):
    """A configuration that is for an image, and the prefix by which it is."""

    config: Object
    prefix: str
    image: str
    """The image in the spelling that begins with the prefix."""

    @property
    def name(self) -> str:
        """Its name."""
        return str((self.config.get("metadata") or {}).get("name", ""))


def select_config(configs: Iterable[Object], image: str, section: Sequence[str]) -> SelectedConfig | None:
    """The configuration with this section that is for an image."""
    best: SelectedConfig | None = None
    spelled = spellings(image)
    for config in configs:
        spec = config.get("spec") or {}
        if _find(spec, section) is None:
            continue
        match = _longest(spec.get("matchImages") or (), spelled)
        if match is not None and (best is None or len(match[0]) > len(best.prefix)):
            best = SelectedConfig(config, *match)
    return best


def _longest(matches: Iterable[Any], spelled: Sequence[str]) -> tuple[str, str] | None:
    """The longest prefix of an image among those listed, and the spelling that begins with it."""
    matching = [
        (prefix, image)
        for match in matches
        if isinstance(match, dict) and isinstance(match.get("prefix"), str)
        for prefix in dict.fromkeys((match["prefix"], _lower_host(match["prefix"])))
        for image in spelled
        if image.startswith(prefix)
    ]
    return max(matching, key=lambda match: len(match[0]), default=None)


def _lower_host(prefix: str) -> str:
    host, slash, path = prefix.partition("/")
    return f"{host.lower()}{slash}{path}"


def is_for(config_prefixes: Iterable[str], image: str) -> bool:
    """Whether an image begins with one of some prefixes, however its registry is spelled."""
    return _longest([{"prefix": prefix} for prefix in config_prefixes], spellings(image)) is not None


def _find(spec: Object, section: Sequence[str]) -> Any:
    value: Any = spec
    for name in section:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def prefixes(config: Object) -> list[str]:
    """What the images begin with that a configuration is for."""
    matches = (config.get("spec") or {}).get("matchImages") or ()
    return [str(match.get("prefix") or "") for match in matches if isinstance(match, dict)]


def rewritten(configs: Iterable[Object], image: str) -> tuple[str, str]:
    """The image to pull instead, and the name of the configuration that says so; empty for none."""
    chosen = select_config(configs, image, REWRITE)
    if chosen is None:
        return image, ""
    prefix = chosen.config["spec"]["rewriteImage"].get("prefix") or ""
    return f"{prefix}{chosen.image[len(chosen.prefix) :]}", chosen.name


def pull_secret(configs: Iterable[Object], image: str) -> tuple[str, str]:
    """The name of the Secret to pull an image with, and of the configuration that says so; empty for none."""
    chosen = select_config(configs, image, AUTHENTICATION)
    if chosen is None:
        return "", ""
    section = _find(chosen.config["spec"], AUTHENTICATION)
    return str((section.get("pullSecretRef") or {}).get("name") or ""), chosen.name

"""The names that `crossply new` is given: they end up in file names, Kubernetes names and Python."""

from __future__ import annotations

import re

from crossply.cli.framework.command import Flag, UsageError

DIRECTORY = Flag(
    "directory",
    "The directory to write to. Called like what is made by default.",
    short="d",
    kind="path",
    placeholder="DIR",
)


def checked_name(name: str, *, dots: bool = False) -> str:
    """A name that Kubernetes accepts; with dots between its parts where those make sense."""
    label = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    pattern = rf"{label}(\.{label})+" if dots else label
    if len(name) <= 63 and re.fullmatch(pattern, name):
        return name
    form = "lower case letters, digits and dashes" + (", in parts with dots between them" if dots else "")
    raise UsageError(f'"{name}" cannot be a name: use {form}')


def checked_kind(kind: str) -> str:
    """A name that can be a kind."""
    if re.fullmatch(r"[A-Z][A-Za-z0-9]{0,62}", kind):
        return kind
    raise UsageError(f'"{kind}" cannot be a kind: use a capital, then letters and digits')

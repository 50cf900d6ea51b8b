"""What a conversion gives: the new object, and where the parts of the old one are in it."""

from __future__ import annotations

from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.values import Object

Path = tuple[str | int, ...]
Move = tuple[Path, Path]
"""Everything below the first path is below the second one now."""


class ConversionError(CrossplyError):
    """An object cannot be converted: it is of another kind, or lacks what the conversion needs."""

    code = "CP-460"


class Converted(NamedTuple):
    """A converted object. The moves of several conversions in a row are kept in their order."""

    value: Object
    rounds: tuple[tuple[Move, ...], ...] = ()
    left_out: tuple[str, ...] = ()
    """The fields that the new form has no place for."""

    def then(self, later: Converted) -> Converted:
        """The result of this conversion and of a later one together."""
        left_out = (*self.left_out, *later.left_out)
        return Converted(later.value, (*self.rounds, *later.rounds), left_out)

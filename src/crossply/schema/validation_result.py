"""What the checks of one node found: its errors, and how much of it matched."""

from __future__ import annotations

from crossply.schema.field_errors import INVALID, FieldError


class Result:
    """Errors by their sentence (the same one is reported once), and the count that ranks alternatives."""

    __slots__ = ("errors", "matches")

    def __init__(self) -> None:
        self.errors: dict[str, FieldError] = {}
        self.matches = 0

    def add(self, error: FieldError, sentence: str) -> None:
        """Add an error unless one with the same sentence is there."""
        self.errors.setdefault(sentence, error)

    def complain(self, sentence: str) -> None:
        """Add an error that names its field only in its sentence."""
        self.errors.setdefault(sentence, FieldError(INVALID, "", "", sentence))

    def merge(self, other: Result) -> None:
        """Take over what another node found."""
        for sentence, error in other.errors.items():
            self.errors.setdefault(sentence, error)
        self.matches += other.matches

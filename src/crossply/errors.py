"""The root of every error that a user may see.

An error says what went wrong (its message), where (`place`: a file and line, or an object), and what to
try next (`hint`). Its class carries a `code` that names a section of `docs/reference/errors.md`; a test
walks this tree and fails when a class has no code, no docstring or no section.

Codes by room: CP-1xx values and files, CP-2xx composing, CP-3xx functions, CP-4xx kinds, schemas and apply,
CP-5xx the command line, CP-6xx the API server, CP-7xx the Kubernetes client, CP-8xx the control plane,
CP-9xx packages and registries.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


class CrossplyError(Exception):
    """Something went wrong that the user can act on."""

    code = "CP-100"
    hint = ""

    def __init__(self, message: str, *, place: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.place = place
        if hint:
            self.hint = hint

    def within(self, story: str) -> Self:
        """The same error told from one layer further out: "story: message"."""
        self.args = (f"{story}: {self}",)
        return self

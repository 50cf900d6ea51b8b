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

    def within(self, context: str) -> Self:
        """A copy whose message begins with what was being done: "context: message"."""
        return self.replace(message=f"{context}: {self}")

    def at(self, place: str) -> Self:
        """A copy with this place, unless the error already has one, which is closer to the cause."""
        return self.replace(place=self.place or place)

    def replace(
        self, *, message: str | None = None, place: str | None = None, hint: str | None = None
    ) -> Self:
        """A copy with another message, place or hint; this error stays as it is."""
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.args = self.args if message is None else (message,)
        copy.place = self.place if place is None else place
        copy.hint = self.hint if hint is None else hint
        copy.__cause__, copy.__context__ = self.__cause__, self.__context__
        copy.__suppress_context__ = self.__suppress_context__
        return copy.with_traceback(self.__traceback__)

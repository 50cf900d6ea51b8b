"""What a provider's methods return: the state of an external resource, and connection details."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ConnectionDetails = Mapping[str, str | bytes]
"""What is written to the connection Secret, by key."""


@dataclass(frozen=True, slots=True)
class Observation:
    """An external resource that exists. `observe` returns None where it does not."""

    observed: Any = None
    """An instance of the kind's `Observed`: it becomes `status.atProvider`. None leaves that as it is."""
    actual: Mapping[str, Any] = field(default_factory=dict)
    """Parameters as they are outside, by their Python names.

    The resource is up to date where they equal what is desired. A parameter that is not set takes the value
    from here (late initialisation).
    """
    up_to_date: bool | None = None
    """Replaces the comparison of `actual` with the parameters."""
    ready: bool | str = True
    """Whether the resource can be used. A text says why it cannot."""
    connection: ConnectionDetails = field(default_factory=dict, repr=False)


def encoded_details(details: ConnectionDetails | None) -> dict[str, bytes]:
    """Connection details as a Secret has them."""
    return {
        key: value if isinstance(value, bytes) else str(value).encode()
        for key, value in (details or {}).items()
    }

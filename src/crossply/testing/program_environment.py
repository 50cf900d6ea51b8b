"""The environment that programs of tests see."""

from __future__ import annotations

import os

_PREFIX = "UP_"


def visible_variables() -> dict[str, str]:
    """The variables whose names begin with UP_: those that `up test` passes on. All others stay private."""
    return {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)}

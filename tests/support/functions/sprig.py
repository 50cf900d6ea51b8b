"""Rendering one template for the tests of sprig's functions."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.functions.builtin.go_templating.engine.errors import ExecError
from crossply.functions.builtin.go_templating.program import compile_text


def rendered(template: str, data: Any = None) -> str:
    """What a template makes of the data."""
    return compile_text(template).render({} if data is None else data)


def error_of(template: str, data: Any = None) -> str:
    """The error of a failing function in a template."""
    with pytest.raises(ExecError) as failed:
        rendered(template, data)
    _, separator, rest = str(failed.value).partition("error calling ")
    assert separator, str(failed.value)
    return rest.partition(": ")[2]

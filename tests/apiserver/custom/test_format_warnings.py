"""Warnings about formats that nobody checks."""

from __future__ import annotations

import pytest

from crossply.apiserver.apiextensions.format_warnings import definition_warnings
from crossply.values import Object
from tests.support.apiserver.definitions import TEXT, with_field


@pytest.mark.parametrize(
    ("schema", "warned", "reason"),
    [
        ({**TEXT, "format": "date-time"}, False, "dashes do not count"),
        ({**TEXT, "format": "k8s-short-name"}, False, "one of Kubernetes' own"),
        ({**TEXT, "format": "int-or-string"}, True, "often written, never checked"),
        ({"type": "integer", "format": "int64"}, False, "a number's width"),
        ({"type": "integer", "format": "uint8"}, True, "not one that is known"),
        ({"type": "boolean", "format": "date"}, True, "a truth has no format"),
    ],
)
def test_an_unknown_format_is_told(schema: Object, warned: bool, reason: str) -> None:
    expected = [f'unrecognized format "{schema["format"]}"'] if warned else []
    assert definition_warnings(with_field(schema), None) == expected, reason


def test_what_was_there_before_is_not_told_again() -> None:
    definition = with_field({**TEXT, "format": "magic"})
    assert definition_warnings(definition, definition) == []

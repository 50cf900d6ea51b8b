"""Warnings about formats that are not validated."""

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
def test_an_unknown_format_is_reported(schema: Object, warned: bool, reason: str) -> None:
    expected = [f'unrecognized format "{schema["format"]}"'] if warned else []
    assert definition_warnings(with_field(schema), None) == expected, reason


def test_an_unchanged_unknown_format_is_not_reported() -> None:
    definition = with_field({**TEXT, "format": "magic"})
    assert definition_warnings(definition, definition) == []

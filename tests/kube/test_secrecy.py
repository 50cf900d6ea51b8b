"""What is said about a refused Secret names the field and the rule, never the value."""

from __future__ import annotations

import pytest

from crossply.kube.failures import refusal
from crossply.kube.secrecy import without_values


@pytest.mark.parametrize(
    ("said", "kept", "why"),
    [
        (
            ".stringData.key: expected string, got &value.valueUnstructured{Value:1234}",
            ".stringData.key: expected string, got (hidden)",
            "a value of the wrong type",
        ),
        (
            'errors:\n  .data.a: expected string, got &value.valueUnstructured{Value:"x}\n  y"}\n  .b: 1',
            "errors:\n  .data.a: expected string, got (hidden)",
            "a value that looks like the end of the message",
        ),
        (
            'Secret "s" is invalid: data[k]: Invalid value: "a \\"quoted\\" one": must be so',
            'Secret "s" is invalid: data[k]: Invalid value: (hidden): must be so',
            "a value that is quoted, with quotes inside",
        ),
        (
            'type: Unsupported value: 5: must be "x"',
            'type: Unsupported value: (hidden): must be "x"',
            "a number",
        ),
        ('secrets "s" is forbidden: no', 'secrets "s" is forbidden: no', "nothing to hide"),
    ],
)
def test_values_are_hidden(said, kept, why) -> None:
    told = {"code": 422, "message": said, "details": {"causes": [{"message": said, "field": "data"}]}}
    problem = without_values(refusal(told))
    assert str(problem) == kept, why
    assert problem.causes[0].message == kept

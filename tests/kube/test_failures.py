"""The error about a refused Secret names the field and the rule, never the value."""

from __future__ import annotations

import pytest

from crossply.kube.failures import KubeError, refusal, without_values
from crossply.kube.kind import Kind

SECRET = Kind("", "v1", "Secret", "secrets", True)


@pytest.mark.parametrize(
    ("message", "expected", "why"),
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
def test_values_are_hidden(message, expected, why) -> None:
    status = {"code": 422, "message": message, "details": {"causes": [{"message": message, "field": "data"}]}}
    problem = without_values(refusal(status))
    assert str(problem) == expected, why
    assert problem.causes[0].message == expected


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"stringData": {"key": 7391846250}}, "a number is no string"),
        ({"data": {"key": 7391846250}}, "nor is it data"),
        ({"data": {"key": "7391846250 is not base64"}}, "a value that is not encoded"),
        ({"data": {"key": "NzM5MTg0NjI1MA=="}, "type": "kubernetes.io/tls"}, "a type that wants other keys"),
        ({"stringData": {"key": {"deep": ["7391846250"]}}}, "an object is no string"),
        ({"immutable": "7391846250"}, "a text is no boolean"),
    ],
)
async def test_no_server_response_reveals_a_value(client, ns, fields, why) -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": ns}, **fields}

    for attempt in (lambda: client.create(SECRET, body), lambda: client.apply(SECRET, body, "test")):
        with pytest.raises(KubeError) as caught:
            await attempt()
        messages = [str(caught.value), *(cause.message for cause in caught.value.causes)]
        assert not any("7391846250" in text or "NzM5MTg0NjI1MA" in text for text in messages), (why, messages)

"""What a template sees of the request: all that was sent, and what was sent empty as empty."""

from __future__ import annotations

import json

import pytest

from crossply.compose.function_messages import NO_STATE, Request, Resource, State
from crossply.compose.wire_codec import decode_request, encode_request
from crossply.functions.builtin.go_templating.function import run
from crossply.values.protobuf_struct import to_wire

XR = {"apiVersion": "example.org/v1", "kind": "XR", "metadata": {"name": "x"}}
CONDITION = {
    "type": "Ready",
    "status": "True",
    "reason": "Fine",
    "lastTransitionTime": "2024-01-02T05:04:05+02:00",
}


def answer(template, observed=None, desired=None, **rest):
    """The response to a request that went over the wire."""
    step_input = to_wire({"source": "Inline", "inline": {"template": template}})
    observed = State(Resource(XR)) if observed is None else observed
    return run(decode_request(encode_request(Request(observed, desired, input=step_input, tag="t", **rest))))


def shown(template, *states, **rest):
    """What a template writes, read as JSON."""
    mark = "gotemplating.fn.crossplane.io/composition-resource-name: a"
    document = f"kind: A\nmetadata:\n  annotations:\n    {mark}\nshown: |\n  {template}\n"
    response = answer(document, *states, **rest)
    assert response.results == ()
    return json.loads(response.desired.resources["a"].object["shown"])


@pytest.mark.parametrize(
    ("template", "expected", "reason"),
    [
        ("{{ toJson .context }}", {}, "the context that a pipeline starts with"),
        ("{{ toJson .desired }}", {}, "the desired state that a pipeline starts with"),
        (
            '{{ index .context "a.b/environment" | default dict | toJson }}',
            {},
            "the usual default of a context",
        ),
        ('{{ dig "a" "b" "none" .context | toJson }}', "none", "a path into an empty context"),
        (
            '{{ dig "composite" "resource" "status" "none" .desired | toJson }}',
            "none",
            "and into no desired XR",
        ),
        ('{{ hasKey .context "a" }}', False, "a key of an empty context"),
        ("{{ keys . | sortAlpha | toJson }}", ["context", "desired", "input", "meta", "observed"], "no more"),
        ("{{ toJson .meta }}", {"tag": "t", "capabilities": ["CAPABILITY_UNSPECIFIED", 99]}, "odd numbers"),
    ],
)
def test_fields_sent_empty_are_an_empty_map(template, expected, reason):
    assert shown(template, None, State(), context={}, capabilities=(0, 99)) == expected, reason


@pytest.mark.parametrize("field", ["context", "desired", "observed"])
def test_fields_not_sent_are_absent(field):
    assert shown(f'{{{{ hasKey . "{field}" }}}}', NO_STATE) is False


def test_an_absent_desired_state_and_context_stay_absent_in_a_fatal_answer():
    response = answer('{{ fail "x" }}')
    assert (response.desired is NO_STATE, response.context) == (True, None)


@pytest.mark.parametrize(
    ("template", "expected", "reason"),
    [
        ('{{ getCredentialData . "empty" | toJson }}', None, "credentials without data"),
        ('{{ getCredentialData . "none" | toJson }}', None, "credentials that are not there"),
        ('{{ getCredentialData . "full" | toJson }}', {"user": "Ym9i"}, "bytes are base64"),
        (
            '{{ $_ := set . "junk" 1 }}{{ getCredentialData . "full" | toJson }}',
            None,
            "what is no request now",
        ),
    ],
)
def test_credentials_that_are_missing_are_null(template, expected, reason):
    assert shown(template, credentials={"empty": {}, "full": {"user": b"bob"}}) == expected, reason


def test_a_condition_has_the_names_of_kubernetes_in_json():
    status = {"conditions": [CONDITION | {"observedGeneration": 3}]}
    observed = State(Resource(to_wire(XR | {"status": status})))
    assert shown('{{ getResourceCondition "Ready" .observed.composite | toJson }}', observed) == {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": "2024-01-02T03:04:05Z",
        "reason": "Fine",
        "observedGeneration": 3,
    }
    response = answer('{{ getResourceCondition "No" .observed.composite | toJson | fail }}', observed)
    assert response.results[0].message.endswith(
        '{"type":"No","status":"Unknown","lastTransitionTime":null,"reason":""}'
    )

"""Manifests that speak to the engine, read as the published function reads them."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_UNSPECIFIED,
    SECOND,
    SEVERITY_FATAL,
    Request,
    Resource,
    ResourceSelector,
    State,
)
from crossply.functions.builtin.go_templating.function import run
from crossply.values.protobuf_struct import to_wire

XR = {"apiVersion": "example.org/v1", "kind": "XR", "metadata": {"name": "x"}}
META = "apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1\nkind: "
STATUS = "apiVersion: example.org/v1\nkind: XR\n"
TTL = "gotemplating.fn.crossplane.io/ttl"


def answer(template, desired=None, *, xr=XR, ttl=None, **rest):
    """The response to a request with an inline template."""
    step_input = {"source": "Inline", "inline": {"template": template}} | ({"ttl": ttl} if ttl else {})
    return run(Request(State(Resource(to_wire(xr))), desired, input=to_wire(step_input), tag="t", **rest))


def problem(response):
    """The text of the one result, which is fatal."""
    (result,) = response.results
    assert result.severity == SEVERITY_FATAL
    return result.message


CONDITIONS = "cannot get Conditions from input: cannot unmarshal value from JSON: "
FIELD = "into Go struct field TargetedCondition."


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ("{}", "json: cannot unmarshal object into Go value of type []main.TargetedCondition"),
        ("[3]", "json: cannot unmarshal number into Go value of type main.TargetedCondition"),
        ("[{type: 3}]", f"json: cannot unmarshal number {FIELD}Condition.type of type v2.ConditionType"),
        (
            "[{status: true}]",
            f"json: cannot unmarshal bool {FIELD}Condition.status of type v1.ConditionStatus",
        ),
        (
            "[{reason: []}]",
            f"json: cannot unmarshal array {FIELD}Condition.reason of type v2.ConditionReason",
        ),
        ("[{message: {}}]", f"json: cannot unmarshal object {FIELD}Condition.message of type string"),
        ("[{target: 1}]", f"json: cannot unmarshal number {FIELD}target of type main.CompositionTarget"),
        (
            "[{observedGeneration: 1.5}]",
            f"json: cannot unmarshal number 1.5 {FIELD}Condition.observedGeneration of type int64",
        ),
        (
            "[{lastTransitionTime: 3}]",
            f"json: cannot unmarshal number {FIELD}Condition.lastTransitionTime of type string",
        ),
        (
            "[{type: 3}, {lastTransitionTime: bad}]",
            'parsing time "bad" as "2006-01-02T15:04:05Z07:00": cannot parse "bad" as "2006"',
        ),
        (
            "[{type: Ready}, {type: 3}]",
            f"json: cannot unmarshal number {FIELD}Condition.type of type v2.ConditionType",
        ),
    ],
)
def test_conditions_that_do_not_fit_are_refused_before_any_is_set(conditions, expected):
    response = answer(f"{META}ClaimConditions\nconditions: {conditions}")
    assert problem(response) == CONDITIONS + expected
    assert response.conditions == ()


def test_conditions_before_a_reserved_one_are_preserved():
    response = answer(f"{META}ClaimConditions\nconditions: [{{type: A}}, {{type: Synced}}, {{type: B}}]")
    assert problem(response) == "cannot set ClaimCondition type: Synced is a reserved Crossplane Condition"
    assert [condition.type for condition in response.conditions] == ["A"]


REQUIREMENTS = (
    "cannot get extra resources requirements: cannot unmarshal value from JSON: json: cannot unmarshal "
)


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (
            "{matchLabels: {a: 3}}",
            "number into Go struct field ExtraResourcesRequirement.matchLabels of type string",
        ),
        (
            "{matchLabels: []}",
            "array into Go struct field ExtraResourcesRequirement.matchLabels of type map[string]string",
        ),
        (
            "{kind: 1, apiVersion: {}}",
            "object into Go struct field ExtraResourcesRequirement.apiVersion of type string",
        ),
        ("text", "string into Go value of type main.ExtraResourcesRequirement"),
    ],
)
def test_requirements_that_do_not_fit_are_refused(requirement, expected):
    assert (
        problem(answer(f"{META}ExtraResources\nrequirements: {{a: {requirement}}}"))
        == REQUIREMENTS + expected
    )


def test_a_label_that_is_null_is_an_empty_one():
    response = answer(f"{META}ExtraResources\nrequirements: {{a: {{kind: K, matchLabels: {{l: null}}}}}}")
    assert response.requirements.resources == {"a": ResourceSelector("", "K", match_labels={"l": ""})}


def test_a_requirement_with_a_namespace_is_only_in_the_new_field_and_may_be_repeated():
    labelled = (
        f"{META}ExtraResources\nrequirements: {{a: {{kind: K, matchLabels: {{l: v}}, namespace: team}}}}\n"
    )
    response = answer(f"{labelled}---\n{labelled}")
    assert response.requirements.resources == {"a": ResourceSelector("", "K", match_labels={"l": "v"})}
    assert response.requirements.extra_resources == {}


@pytest.mark.parametrize(
    ("context", "expected", "reason"),
    [
        ({"a": {"b": 1.0}}, {"a": {"q": 1.0}, "b": 2.0}, "the second manifest is merged with the first"),
        ({}, {"a": {"q": 1.0}, "b": 2.0}, "without a context to begin with it replaces it"),
        (None, {"a": {"q": 1.0}, "b": 2.0}, "also where none was sent"),
    ],
)
def test_later_contexts_are_merged_over_earlier_ones(context, expected, reason):
    template = f"{META}Context\ndata: {{a: 1}}\n---\n{META}Context\ndata: {{b: 2, a: {{q: 1}}}}"
    assert answer(template, context=context).context == expected, reason


def test_an_empty_context_is_not_invented():
    assert answer(f"{META}Context\ndata: {{}}").context is None


def test_resources_for_both_fields_are_joined_only_in_a_context_that_was_sent():
    both = {"extra_resources": {"e": ()}, "required_resources": {"r": ()}}
    key = "apiextensions.crossplane.io/extra-resources"
    assert answer("---", context={"k": "v"}, **both).context == {"k": "v", key: {"e": {}, "r": {}}}
    assert answer("---", context={}, **both).context == {key: {"r": {}}}


@pytest.mark.parametrize(
    ("desired", "written", "expected", "reason"),
    [
        ({}, "", {}, "neither has a status: none is invented"),
        ({}, "spec: {a: 1}", {}, "and nothing else of the XR is taken"),
        ({}, "status: {}", {"status": {}}, "an empty one is one"),
        ({}, "status: null", {"status": {}}, "null makes an empty one"),
        ({"status": None}, "status: null", {"status": None}, "null stays null"),
        ({"status": None}, "", {"status": {}}, "unless nothing is said"),
        ({"status": {"a": 1.0}}, "status: null", {"status": {"a": 1.0}}, "null adds nothing"),
    ],
)
def test_the_status_of_the_xr(desired, written, expected, reason):
    response = answer(STATUS + written, State(Resource(desired)))
    assert response.desired.composite.object == expected, reason


def test_an_xr_of_a_meta_kind_has_a_status_too():
    xr = {"apiVersion": "meta.gotemplating.fn.crossplane.io/v1alpha1", "kind": "Context"}
    response = answer(f"{META}Context\ndata: {{a: 1}}\nstatus: {{x: 1}}", xr=xr)
    assert (response.desired.composite.object, response.context) == ({"status": {"x": 1.0}}, None)


def test_readiness_of_the_xr_from_earlier_steps_is_not_passed_on():
    desired = State(Resource({}, {}, READY_FALSE), {"a": Resource({"kind": "A"}, {}, READY_FALSE)})
    response = answer("---", desired)
    assert response.desired.composite.ready == READY_UNSPECIFIED
    assert response.desired.resources["a"].ready == READY_FALSE


@pytest.mark.parametrize(
    ("ttl", "annotations", "expected", "reason"),
    [
        ("5m", None, 300 * SECOND, "the input's"),
        ("soon", None, 60 * SECOND, "one that is none is ignored"),
        ("5m", {TTL: "10s"}, 10 * SECOND, "the XR has the last word"),
        ("5m", {TTL: "soon"}, 0, "even when it makes no sense"),
        ("5m", {TTL: None}, 0, "null is an empty text"),
        ("5m", {TTL: "10s", "other": 3}, 300 * SECOND, "annotations that are no texts are none"),
    ],
)
def test_how_long_an_answer_may_be_reused(ttl, annotations, expected, reason):
    xr = XR | {"metadata": {"annotations": annotations}}
    assert answer("---", xr=xr, ttl=ttl).ttl == expected, reason
    assert answer("kind: Noname", xr=xr, ttl=ttl).ttl == expected, reason


def test_the_annotation_does_not_count_for_a_template_that_fails():
    xr = XR | {"metadata": {"annotations": {TTL: "10s"}}}
    assert answer('{{ fail "x" }}', xr=xr).ttl == 60 * SECOND


NAMED = (
    '{"kind":"A","metadata":{"annotations":{"gotemplating.fn.crossplane.io/composition-resource-name":"%s"}}}'
)


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        ("{}", "Object 'Kind' is missing in '{}'", "JSON that is no object of Kubernetes"),
        ('{"kind":', "unexpected EOF", "JSON that ends too soon"),
        (
            '{"kind": "A" "b"}',
            "json: offset 14: invalid character '\"' after object key:value pair",
            "neither JSON nor YAML",
        ),
        (
            NAMED % "a" + NAMED % "b" + "{x",
            "invalid character 'x' looking for beginning of object key string",
            "late",
        ),
        (
            "kind: A\napiVersion: a/b/c\n",
            "error unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in "
            '\'{"apiVersion":"a/b/c","kind":"A"}\'',
            "a version that hides the kind",
        ),
        (
            "# nothing\n---\n...\n",
            "error converting YAML to JSON: yaml: did not find expected node content",
            "an end without a start",
        ),
        (
            "kind: A\nx: 'a",
            "error converting YAML to JSON: yaml: line 3: found unexpected end of stream",
            "a line is closed before it is read",
        ),
    ],
)
def test_text_that_is_no_manifest(text, expected, reason):
    assert problem(answer(text)) == f"cannot decode manifest: {expected}", reason


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_go_has_not_is_text(number):
    response = answer((NAMED % "a").replace('"kind"', f'"x":{number},"kind"'))
    assert response.desired.resources["a"].object["x"] == number


def test_json_without_end_is_refused():
    assert (
        problem(answer('{{ range until 30000 }}{"kind":"A"}{{ end }}'))
        == "cannot decode manifest: more than 20000 documents"
    )


def test_yaml_may_come_after_one_object_of_json():
    mark = "gotemplating.fn.crossplane.io/composition-resource-name"
    response = answer(f"{NAMED % 'a'}\n---\nkind: B\nmetadata: {{annotations: {{{mark}: b}}}}\n")
    assert sorted(response.desired.resources) == ["a", "b"]

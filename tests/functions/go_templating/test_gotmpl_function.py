"""function-go-templating as a whole: from a step's input to the answer."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    SECOND,
    SEVERITY_FATAL,
    STATUS_FALSE,
    STATUS_UNKNOWN,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Request,
    Resource,
    ResourceSelector,
    State,
)
from crossply.functions.builtin.go_templating.function import run
from crossply.values.protobuf_struct import to_wire

XR = {
    "apiVersion": "example.org/v1",
    "kind": "XR",
    "metadata": {"name": "my-xr"},
    "spec": {"count": 3, "region": "eu"},
}
DB = {
    "apiVersion": "v1",
    "kind": "DB",
    "metadata": {"name": "db-1"},
    "status": {"ip": "1.2.3.4", "conditions": [{"type": "Ready", "status": "True", "reason": "Available"}]},
}
META = "apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1\nkind: "


def request(template="", *, xr=XR, desired=None, **rest):
    """A request for an inline template by default."""
    step_input = {"source": "Inline", "inline": {"template": template}} | rest.pop("function_input", {})
    observed = State(
        Resource(to_wire(xr)),
        {"db": Resource(to_wire(DB), {"password": b"s3"}), "a.b": Resource({"kind": "Dotted"})},
    )
    return Request(observed, desired, input=to_wire(step_input), tag="t", **rest)


def manifest(name="a", *, ready=None, body=""):
    """A config map that is a composed resource."""
    marks = f"    gotemplating.fn.crossplane.io/composition-resource-name: {name}\n"
    if ready:
        marks += f"    gotemplating.fn.crossplane.io/ready: {ready!r}\n"
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n{marks}{body}"


def message(response):
    """The text of the one result, which is fatal."""
    assert [result.severity for result in response.results] == [SEVERITY_FATAL]
    return response.results[0].message


def test_documents_become_composed_resources_without_their_marks():
    body = '    keep: "me"\ndata:\n  region: {{ $.observed.composite.resource.spec.region }}\n'
    document = manifest("r-{{ $i }}", body=body)
    template = (
        "{{ range $i := until (int .observed.composite.resource.spec.count) }}\n---\n"
        + document
        + "{{ end }}"
    )
    response = run(request(template))
    assert sorted(response.desired.resources) == ["r-0", "r-1", "r-2"]
    assert response.desired.resources["r-1"].object == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"annotations": {"keep": "me"}},
        "data": {"region": "eu"},
    }
    assert response.results == ()


def test_desired_resources_of_earlier_steps_are_preserved():
    desired = State(
        Resource({"status": {"a": 1.0}}), {"before": Resource({"kind": "X"}, {"k": b"v"}, READY_TRUE)}
    )
    response = run(request(manifest(), desired=desired))
    assert list(response.desired.resources) == ["before", "a"]
    assert response.desired.resources["before"] == Resource({"kind": "X"}, {}, READY_TRUE)
    assert response.desired.composite.object == {"status": {"a": 1.0}}


@pytest.mark.parametrize(
    ("ready", "expected"),
    [
        ("True", READY_TRUE),
        ("False", READY_FALSE),
        ("Unspecified", READY_UNSPECIFIED),
        (None, READY_UNSPECIFIED),
    ],
)
def test_an_annotation_decides_whether_a_resource_is_ready(ready, expected):
    assert run(request(manifest(ready=ready))).desired.resources["a"].ready == expected


def test_the_kind_of_the_xr_without_a_name_is_its_status():
    template = (
        "apiVersion: example.org/v1\nkind: XR\nmetadata:\n  annotations:\n"
        '    gotemplating.fn.crossplane.io/ready: "True"\nstatus:\n  a: 2\n  m: {x: 1}\n'
    )
    desired = State(Resource({"status": {"a": 1.0, "m": {"y": 2.0}}}))
    composite = run(request(template, desired=desired)).desired.composite
    assert composite.object == {"status": {"a": 2.0, "m": {"x": 1.0, "y": 2.0}}}
    assert composite.ready == READY_TRUE


def test_the_kind_of_the_xr_with_a_name_is_composed():
    template = manifest().replace("apiVersion: v1\nkind: ConfigMap", "apiVersion: example.org/v1\nkind: XR")
    assert list(run(request(template)).desired.resources) == ["a"]


FATAL = [
    (
        "{{ nope }}",
        "invalid function input: cannot parse the provided templates: template: manifests:1: function "
        '"nope" not defined',
        "a template that cannot be read",
    ),
    (
        'a:\n  {{ fail "kaput" }}',
        'cannot execute template: template: manifests:2:5: executing "manifests" at '
        '<fail "kaput">: error calling fail: kaput',
        "or rendered",
    ),
    (
        "just text",
        "cannot decode manifest: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
        "string into Go value of type map[string]interface {}",
        "text that is no object",
    ),
    (
        "apiVersion: v1\n",
        "cannot decode manifest: error unmarshaling JSON: while decoding JSON: Object 'Kind' is "
        'missing in \'{"apiVersion":"v1"}\'',
        "an object without a kind",
    ),
    (
        "kind: A\nx: .inf\n",
        "cannot decode manifest: error converting YAML to JSON: json: unsupported value: +Inf",
        "a number that JSON has not",
    ),
    (
        "kind: A\nmetadata:\n  annotations: {b: 5, a: true}\n",
        "invalid annotations in resource '/, Kind=A resource-name=<nil>': "
        ".metadata.annotations accessor error: "
        'contains non-string value in the map under key "a": true is of the type bool, expected string',
        "annotations that are no strings",
    ),
    (
        "kind: A\nmetadata:\n  annotations: 5\n",
        "invalid annotations in resource '/, Kind=A resource-name=<nil>': "
        ".metadata.annotations accessor error: 5 is of the type int64, expected map[string]interface{}",
        "no map",
    ),
    (
        "kind: A\n",
        '"A" template is missing required "gotemplating.fn.crossplane.io/composition-resource-name" '
        "annotation",
        "no name",
    ),
    (
        manifest(ready="Maybe"),
        'invalid function input: invalid "gotemplating.fn.crossplane.io/ready" annotation '
        'value "Maybe": must be True, False, or Unspecified',
        "a readiness that is none",
    ),
    (
        "apiVersion: example.org/v1\nkind: XR\nstatus: up\n",
        "cannot get templated composite status: cannot unmarshal value from JSON: json: cannot "
        "unmarshal string into Go value of type map[string]interface {}",
        "a status that is no object",
    ),
    (
        META + "Nope\n",
        'invalid kind "Nope" for apiVersion "meta.gotemplating.fn.crossplane.io/v1alpha1" - must be '
        "one of CompositeConnectionDetails, Context or ExtraResources",
        "a meta kind that is none",
    ),
    (META + "Context\n", "cannot get Contexts from input: data: no such field", "context without data"),
    (
        META + "ClaimConditions\n",
        "cannot get Conditions from input: conditions: no such field",
        "no conditions",
    ),
    (
        META + "ClaimConditions\nconditions: [{type: Ready}]\n",
        "cannot set ClaimCondition type: Ready is a reserved Crossplane Condition",
        "a condition of the engine's own",
    ),
    (
        META + "ExtraResources\n",
        "cannot get extra resources requirements: requirements: no such field",
        "nothing",
    ),
    (
        "\n---\n".join([META + "ExtraResources\nrequirements: {a: {}}"] * 2),
        'duplicate extra resource key "a"',
        "twice",
    ),
    (
        "--- x\nkind: A\n",
        "cannot decode manifest: invalid Yaml document separator: x",
        "a separator that is none",
    ),
]


@pytest.mark.parametrize(("template", "expected"), [row[:2] for row in FATAL], ids=[row[2] for row in FATAL])
def test_an_impossible_input_is_a_fatal_result_in_the_published_words(template, expected):
    response = run(request(template))
    assert message(response) == expected
    assert response.desired.resources == {}


def test_broken_yaml_is_shown_with_its_rendered_line():
    template = (
        manifest() + "---\nkind: A\nspec:\n  size: {{ .observed.composite.resource.spec.count }}\n bad: x\n"
    )
    assert message(run(request(template))) == (
        "cannot decode manifest: error converting YAML to JSON: yaml: line 9 (document 2, line 3) "
        "near: 'size: 3': did not find expected key"
    )


@pytest.mark.parametrize(
    "template",
    [
        'kind: A\nx: "{{ b64dec "/w==" }}"\n',
        'kind: A\nx: {{ "\\x00" }}\n',
        "kind: A\n\tx: y\n",
        "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + "\n".join(
            f"{key}: &{key} [{','.join([f'*{before}'] * 10)}]"
            for before, key in zip("abcdefg", "bcdefgh", strict=True)
        ),
        "{{ range 30000 }}\n---\nkind: A\n{{ end }}",
        "kind: A\nx: " + "[" * 1000 + "]" * 1000,
    ],
    ids=["not UTF-8", "NUL", "tab", "billion laughs", "too many documents", "too deep"],
)
def test_text_that_is_hostile_yaml_is_refused(template):
    assert message(run(request(template))).startswith("cannot decode manifest: ")


def test_an_unknown_tag_makes_no_object():
    response = run(request(manifest(body="data:\n  x: !!python/object/apply:os.system [ls]\n")))
    assert response.desired.resources["a"].object["data"] == {"x": ["ls"]}


def test_json_needs_no_separators():
    template = '{"kind": "A", "metadata": {"annotations": {"%s": "%s"}}}\n'
    key = "gotemplating.fn.crossplane.io/composition-resource-name"
    response = run(request(template % (key, "a") + template % (key, "b")))
    assert list(response.desired.resources) == ["a", "b"]


def test_empty_documents_are_passed_over():
    response = run(request("---\n# nothing\n---\n\n" + manifest() + "---\nnull\n---\n"))
    assert list(response.desired.resources) == ["a"]


def test_connection_details_come_in_base64():
    template = META + "CompositeConnectionDetails\ndata:\n  user: YWRtaW4=\n  cut: YWRt!!!!\n  pw: "
    template += "{{ .observed.resources.db.connectionDetails.password }}\n"
    details = run(request(template)).desired.composite.connection_details
    assert details == {"user": b"admin", "cut": b"adm", "pw": b"s3"}


def test_conditions_are_passed_on():
    template = META + (
        "ClaimConditions\nconditions:\n"
        "- {type: Fine, status: 'False', reason: Why, message: because, target: CompositeAndClaim}\n"
        "- {type: Odd, status: Perhaps, reason: R}\n"
    )
    assert run(request(template)).conditions == (
        Condition("Fine", STATUS_FALSE, "Why", "because", TARGET_COMPOSITE_AND_CLAIM),
        Condition("Odd", STATUS_UNKNOWN, "R", None, TARGET_COMPOSITE),
    )


def test_context_is_merged():
    template = META + "Context\ndata:\n  env: {b: 2}\n  new: [x]\n"
    response = run(request(template, context={"env": {"a": 1.0, "b": 1.0}, "old": "o"}))
    assert response.context == {"env": {"a": 1.0, "b": 2.0}, "new": ["x"], "old": "o"}


def test_requirements_are_sent_in_both_fields():
    template = META + (
        "ExtraResources\nrequirements:\n"
        "  named: {apiVersion: v1, kind: A, matchName: it}\n"
        "  labelled: {apiVersion: v1, kind: A, matchLabels: {a: b}}\n"
        "  inside: {apiVersion: v1, kind: A, matchName: it, namespace: ns}\n"
    )
    requirements = run(request(template)).requirements
    assert requirements.resources == {
        "named": ResourceSelector("v1", "A", "it"),
        "labelled": ResourceSelector("v1", "A", match_labels={"a": "b"}),
        "inside": ResourceSelector("v1", "A", "it", namespace="ns"),
    }
    assert sorted(requirements.extra_resources) == ["labelled", "named"]


def test_fetched_resources_go_into_the_context():
    fetched = (Resource({"kind": "A", "metadata": {"name": "x"}}),)
    response = run(request(manifest(), required_resources={"a": fetched, "none": ()}, context={"k": "v"}))
    items = {"a": {"items": [{"resource": fetched[0].object}]}, "none": {}}
    assert response.context == {"k": "v", "apiextensions.crossplane.io/extra-resources": items}


HELPERS = [
    ('(getComposedResource . "db").status.ip', "1.2.3.4"),
    ('(getComposedResource . "a.b").kind', "Dotted"),
    ('getComposedResource . "zz" | toJson', "null"),
    ('(getComposedResource . "zz").status | default "none"', "none"),
    ("(getCompositeResource .).metadata.name", "my-xr"),
    ('(getComposedConnectionDetails . "db").password', "czM="),
    ('(getResourceCondition "Ready" .observed.resources.db).Status', "True"),
    ('(.observed.resources.db | getResourceCondition "Ready").Reason', "Available"),
    ('(getResourceCondition "Synced" .observed.resources.db).Status', "Unknown"),
    ('(getResourceCondition "Ready" .observed.nothing).Status', "Unknown"),
    ('(index (getExtraResources . "e") 0).resource.kind', "A"),
    ('getExtraResources . "zz" | len', "0"),
    ('(index (getExtraResourcesFromContext . "e") 0).resource.kind', "B"),
    ('(getCredentialData . "c").key | toString', "secret"),
    ('getCredentialData . "zz" | len', "0"),
    ('setResourceNameAnnotation "x"', "gotemplating.fn.crossplane.io/composition-resource-name: x"),
    ('randomChoice "a" "a"', "a"),
    (".observed.composite.resource.spec.count | typeOf", "int64"),
    (".extraResources.e.items | len", "1"),
    (".meta.tag", "t"),
]


@pytest.mark.parametrize(("expression", "expected"), HELPERS)
def test_helpers_find_parts_of_the_request(expression, expected):
    context = {"apiextensions.crossplane.io/extra-resources": {"e": {"items": [{"resource": {"kind": "B"}}]}}}
    template = manifest(body=f"data:\n  x: {{{{ {expression} | quote }}}}\n")
    if "toJson" in expression:
        template = manifest(body=f"data:\n  x: '{{{{ {expression} }}}}'\n")
    response = run(
        request(
            template,
            context=context,
            required_resources={"e": (Resource({"kind": "A"}),)},
            credentials={"c": {"key": b"secret"}},
        )
    )
    assert response.results == ()
    shown = response.desired.resources["a"].object["data"]["x"]
    assert shown == expected


def test_a_condition_is_written_with_its_go_fields_in_small_letters():
    template = manifest(
        body='data:\n{{ getResourceCondition "Ready" .observed.resources.db | toYaml | indent 2 }}'
    )
    assert run(request(template)).desired.resources["a"].object["data"] == {
        "type": "Ready",
        "status": "True",
        "lasttransitiontime": "0001-01-01T00:00:00Z",
        "reason": "Available",
        "message": "",
        "observedgeneration": 0.0,
    }


def test_a_template_cannot_change_the_request():
    before = to_wire(XR)
    sent = request('{{ $_ := set .observed.composite.resource "kind" "Changed" }}')
    run(sent)
    assert sent.observed.composite.object == before


@pytest.mark.parametrize(
    ("function_input", "annotation", "expected"),
    [({}, None, 60), ({"ttl": "5m"}, None, 300), ({"ttl": "5m"}, "10s", 10), ({}, "zz", 0)],
)
def test_the_time_to_live_comes_from_the_input_or_the_xr(function_input, annotation, expected):
    annotations = {"gotemplating.fn.crossplane.io/ttl": annotation} if annotation else {}
    xr = {**XR, "metadata": {"name": "x", "annotations": annotations}}
    assert run(request(manifest(), xr=xr, function_input=function_input)).ttl == expected * SECOND

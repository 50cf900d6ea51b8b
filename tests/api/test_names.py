"""Names, labels and annotations: which ones an object may have."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import re

import pytest

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
ALPHABET = "[bcdfghjklmnpqrstvwxz2456789]"


def test_a_generated_name_has_five_more_characters(widgets):
    created = widgets.create("", {"generateName": "some-"})
    assert re.fullmatch(f"some-{ALPHABET}{{5}}", created["metadata"]["name"])
    assert created["metadata"]["generateName"] == "some-"


def test_a_name_wins_over_generate_name(configmaps):
    created = configmaps.create("mine", {"generateName": "some-"})
    assert created["metadata"]["name"] == "mine"


def test_a_long_prefix_of_a_generated_name_is_cut(configmaps):
    created = configmaps.create("", {"generateName": "x" * 80})
    assert re.fullmatch(f"x{{58}}{ALPHABET}{{5}}", created["metadata"]["name"])


def test_a_bad_prefix_of_a_generated_name_is_refused(configmaps):
    answer = configmaps.post(configmaps.object("", {"generateName": "Bad-"}))
    assert answer.status == 422
    assert [cause["field"] for cause in answer.causes] == ["metadata.generateName", "metadata.name"]


def test_a_name_is_required(configmaps):
    status = configmaps.post(configmaps.object("")).refused(
        422,
        "Invalid",
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    )
    assert status["details"]["causes"] == [
        {
            "reason": "FieldValueRequired",
            "message": "Required value: name or generateName is required",
            "field": "metadata.name",
        }
    ]


def test_a_custom_name_is_required(widgets):
    group = widgets.api_version.partition("/")[0]
    widgets.post(widgets.object("")).refused(
        422,
        "Invalid",
        f'Widget.{group} "" is invalid: metadata.name: Required value: name or generateName is required',
    )


@pytest.mark.parametrize("name", ["Upper", "under_score", "-first", "last-", "two..dots", "sp ace", "ümlaut"])
def test_names_are_subdomains(widgets, name):
    group = widgets.api_version.partition("/")[0]
    status = widgets.post(widgets.object(name)).refused(
        422,
        "Invalid",
        f'Widget.{group} "{name}" is invalid: metadata.name: Invalid value: "{name}": {SUBDOMAIN}',
    )
    (cause,) = status["details"]["causes"]
    assert (cause["reason"], cause["field"]) == ("FieldValueInvalid", "metadata.name")


def test_dots_are_fine_in_names_of_config_maps(configmaps):
    assert configmaps.create("kube-root.example.crt")["metadata"]["name"] == "kube-root.example.crt"


def test_a_name_may_have_253_characters_and_no_more(configmaps):
    configmaps.create("x" * 253)
    answer = configmaps.post(configmaps.object("x" * 254))
    assert answer.status == 422
    assert answer.causes[0]["message"].endswith(": must be no more than 253 characters")


def test_namespaces_are_labels(admin):
    answer = admin.post("/api/v1/namespaces", {"metadata": {"name": "a.b"}})
    answer.refused(
        422,
        "Invalid",
        'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
    )


def test_namespaces_have_no_capitals(admin):
    admin.post("/api/v1/namespaces", {"metadata": {"name": "A"}}).refused(
        422, "Invalid", f'Namespace "A" is invalid: metadata.name: Invalid value: "A": {LABEL}'
    )


def test_a_service_name_has_no_dots(admin, ns):
    body = {"metadata": {"name": "1.st"}, "spec": {"ports": [{"port": 80}]}}
    answer = admin.post(f"/api/v1/namespaces/{ns}/services", body)
    assert answer.status == 422
    assert answer.causes[0]["field"] == "metadata.name"
    assert answer.causes[0]["message"] == 'Invalid value: "1.st": must not contain dots'


def test_roles_may_have_colons_in_their_names(admin, ns):
    created = admin.post(
        f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", {"metadata": {"name": "a:B_c"}}
    )
    assert created.ok(201)["metadata"]["name"] == "a:B_c"


@pytest.mark.parametrize("name", [".", ".."])
def test_path_like_names_of_roles_are_refused(admin, ns, name):
    answer = admin.post(
        f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", {"metadata": {"name": name}}
    )
    assert answer.status == 422
    assert answer.causes[0]["message"] == f"Invalid value: \"{name}\": may not be '{name}'"


NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"-a": "x"}, f'Invalid value: "-a": {NAME_PART}'),
        ({"a": "-x"}, f'Invalid value: "-x": {LABEL_VALUE}'),
        ({"a": "y" * 64}, 'Invalid value: "{}": must be no more than 63 bytes'),
        ({"a/b/c": "x"}, 'Invalid value: "a/b/c": a valid label key must consist of'),
        (
            {"A.example/b": "x"},
            'Invalid value: "A.example/b": prefix part a lowercase RFC 1123 subdomain must',
        ),
        ({"/b": "x"}, 'Invalid value: "/b": prefix part must be non-empty'),
    ],
)
def test_bad_labels_are_refused(configmaps, labels, message):
    answer = configmaps.post(configmaps.object("one", {"labels": labels}))
    assert answer.status == 422
    (cause,) = answer.causes
    assert cause["field"] == "metadata.labels"
    assert cause["message"].startswith(message.replace("{}", "y" * 64))


def test_bad_labels_of_custom_objects_are_refused(widgets):
    answer = widgets.post(widgets.object("one", {"labels": {"a": "-x"}}))
    assert answer.status == 422
    assert answer.causes[0]["message"] == f'Invalid value: "-x": {LABEL_VALUE}'


@pytest.mark.parametrize(
    ("labels", "ending"),
    [
        (
            {"a": 1},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            "x",
            "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
    ],
)
def test_labels_must_be_texts(configmaps, labels, ending):
    answer = configmaps.post(configmaps.object("one", {"labels": labels}))
    assert answer.status == 400
    assert answer.message == f'ConfigMap in version "v1" cannot be handled as a ConfigMap: {ending}'


def test_annotation_keys_are_qualified_names_in_any_case(configmaps):
    configmaps.create("one", {"annotations": {"Example.org/Key": "any ~ text\n"}})
    answer = configmaps.post(configmaps.object("two", {"annotations": {"a b": "x"}}))
    assert answer.status == 422
    assert answer.causes[0]["field"] == "metadata.annotations"


def test_annotations_are_limited_to_256_kib_in_all(configmaps):
    configmaps.create("one", {"annotations": {"a": "x" * (256 * 1024 - 1)}})
    configmaps.post(configmaps.object("two", {"annotations": {"a": "x" * (256 * 1024)}})).refused(
        422,
        "Invalid",
        'ConfigMap "two" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    )


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"uid": ""}, "metadata.ownerReferences.uid", 'Invalid value: "": must not be empty'),
        ({"name": ""}, "metadata.ownerReferences.name", 'Invalid value: "": must not be empty'),
        ({"kind": ""}, "metadata.ownerReferences.kind", 'Invalid value: "": must not be empty'),
        (
            {"apiVersion": ""},
            "metadata.ownerReferences.apiVersion",
            'Invalid value: "": version must not be empty',
        ),
    ],
)
def test_owner_references_must_be_complete(configmaps, change, field, message):
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "y", **change}
    answer = configmaps.post(configmaps.object("one", {"ownerReferences": [reference]}))
    assert answer.status == 422
    assert [(cause["field"], cause["message"]) for cause in answer.causes] == [(field, message)]


def test_an_object_has_one_controller_at_most(configmaps):
    references = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": name, "controller": True}
        for name in "ab"
    ]
    answer = configmaps.post(configmaps.object("one", {"ownerReferences": references}))
    assert answer.status == 422
    assert answer.message.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for ConfigMap/a and ConfigMap/b'
    )


def test_an_event_cannot_own(configmaps):
    reference = {"apiVersion": "v1", "kind": "Event", "name": "x", "uid": "y"}
    answer = configmaps.post(configmaps.object("one", {"ownerReferences": [reference]}))
    assert answer.status == 422
    assert "is disallowed from being an owner" in answer.message

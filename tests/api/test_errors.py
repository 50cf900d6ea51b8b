"""Invalid requests and their error messages."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import pytest

NOT_FOUND = "the server could not find the requested resource"
NO_METHOD = "the server does not allow this method on the requested resource"


@pytest.mark.parametrize(
    "path",
    ["/apis/no.such.group/v1/things", "/nothing", "/apis/no.such.group", "/apis/no.such.group/v1"],
)
def test_unknown_paths(admin, path):
    answer = admin.get(path)
    assert answer.status == 404
    assert answer.text == "404 page not found\n"


@pytest.mark.parametrize("path", ["/api/v1/nothings", "/apis/apps/v9/deployments", "/api/v9/pods"])
def test_paths_below_groups_that_are_served(admin, path):
    status = admin.get(path).refused(404, "NotFound", NOT_FOUND)
    assert status["details"] == {}


def test_a_custom_kind_at_a_version_that_is_not_served(admin, widgets):
    answer = admin.get(widgets.path.replace("/v1/", "/v9/"))
    assert answer.status == 404
    assert answer.text == "404 page not found\n"


def test_a_namespaced_kind_cannot_be_written_without_a_namespace(admin, widgets):
    answer = admin.post(f"/apis/{widgets.api_version}/widgets", widgets.object("one"))
    assert answer.status in (404, 405, 400)


def test_a_cluster_kind_in_a_namespace(admin, ns):
    assert admin.get(f"/api/v1/namespaces/{ns}/nodes").status == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/api/v1/namespaces/NS/configmaps"),
        ("PATCH", "/api/v1/namespaces/NS/configmaps"),
        ("POST", "/api/v1/namespaces/NS/configmaps/one"),
        ("DELETE", "/api/v1/namespaces"),
    ],
)
def test_methods_that_do_not_fit(admin, ns, method, path):
    answer = admin.request(method, path.replace("NS", ns), {})
    status = answer.refused(405, "MethodNotAllowed", NO_METHOD)
    assert status["details"] == {}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_methods_that_do_not_fit_custom_objects(widgets, method):
    answer = widgets.client.request(method, widgets.path, {})
    assert answer.status in (400, 405, 415)


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        (b"{", "json parse error: unexpected end of JSON input"),
        (b"hello", "json parse error: invalid character 'h' looking for beginning of value"),
        (b"", "unexpected end of JSON input (<empty>)"),
        (b"[]", "cannot unmarshal array into Go value of type"),
        (b"null", None),
        (b"5", "cannot unmarshal number into Go value of type"),
        (b'{"kind":5}', "cannot unmarshal number into Go struct field"),
    ],
)
def test_bodies_that_are_no_objects(configmaps, body, ending):
    answer = configmaps.post(body)
    assert answer.status in (400, 422), answer.text
    if ending:
        assert ending in answer.message


@pytest.mark.parametrize("body", [b"{", b"hello", b"[]", b"5"])
def test_bodies_that_are_no_custom_objects(widgets, body):
    answer = widgets.post(body)
    assert (answer.status, answer.reason) == (400, "BadRequest")


def test_a_wrong_type_in_a_built_in(configmaps):
    configmaps.post(configmaps.object("one", data={"a": 1})).refused(
        400,
        "BadRequest",
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct '
        "field ConfigMap.data of type string",
    )


def test_a_wrong_type_in_a_custom_object(widgets):
    group = widgets.api_version.partition("/")[0]
    status = widgets.post(widgets.object("one", spec={"size": "big"})).refused(
        422,
        "Invalid",
        f'Widget.{group} "one" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type '
        'integer: "string"',
    )
    assert status["details"]["causes"] == [
        {
            "reason": "FieldValueTypeInvalid",
            "message": 'Invalid value: "string": spec.size in body must be of type integer: "string"',
            "field": "spec.size",
        }
    ]


def test_several_errors_are_reported_together(widgets):
    answer = widgets.post(widgets.object("one", spec={"size": -1, "colour": "pink"}))
    assert answer.status == 422
    assert sorted((cause["field"], cause["reason"]) for cause in answer.causes) == [
        ("spec.colour", "FieldValueNotSupported"),
        ("spec.size", "FieldValueInvalid"),
    ]


def test_an_unsupported_value(widgets):
    group = widgets.api_version.partition("/")[0]
    widgets.post(widgets.object("one", spec={"colour": "pink"})).refused(
        422,
        "Invalid",
        f'Widget.{group} "one" is invalid: spec.colour: Unsupported value: "pink": supported values: "red", "green", '
        '"blue"',
    )


def test_a_kind_that_does_not_fit(configmaps):
    answer = configmaps.post({"apiVersion": "v1", "kind": "Nonsense", "metadata": {"name": "one"}})
    assert answer.status == 400
    assert answer.message == (
        'Nonsense in version "v1" cannot be handled as a ConfigMap: no kind "Nonsense" is registered for version '
        '"v1" in scheme "pkg/runtime/scheme.go:111"'
    )


def test_a_version_that_does_not_fit(configmaps):
    answer = configmaps.post({"apiVersion": "v9", "kind": "ConfigMap", "metadata": {"name": "one"}})
    assert answer.status == 400


def test_a_custom_kind_that_does_not_fit(widgets):
    answer = widgets.post({**widgets.object("one"), "kind": "Gadget"})
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert 'kind: Invalid value: "Gadget": must be Widget' in answer.message


@pytest.mark.parametrize("content", ["text/plain", "application/x-unknown"])
def test_a_body_of_an_unknown_type(configmaps, content):
    answer = configmaps.post(b"hello", content=content)
    answer.refused(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json, "
        "application/yaml, application/vnd.kubernetes.protobuf",
    )


def test_an_answer_of_an_unknown_type(configmaps):
    configmaps.create("one")
    answer = configmaps.get("one", accept="text/html")
    answer.refused(
        406,
        "NotAcceptable",
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf",
    )


def test_a_wildcard_accept_header_takes_any_form(configmaps):
    configmaps.create("one")
    assert configmaps.get("one", accept="*/*").json["kind"] == "ConfigMap"
    assert configmaps.get("one", accept="text/html, */*").json["kind"] == "ConfigMap"


def test_json_may_be_written_prettily(configmaps):
    configmaps.create("one")
    answer = configmaps.get("one", pretty="true")
    assert "{\n" in answer.text
    assert '\n  "kind": "ConfigMap",\n' in answer.text


def test_a_body_that_is_too_large(configmaps):
    body = configmaps.object("one", data={"a": "x" * (3 * 1024 * 1024)})
    answer = configmaps.post(body)
    assert (answer.status, answer.reason) == (413, "RequestEntityTooLarge")
    assert answer.message == "Request entity too large: limit is 3145728"


def test_a_config_map_that_is_too_large(configmaps):
    answer = configmaps.post(configmaps.object("one", data={"a": "x" * (1024 * 1024 + 1)}))
    answer.refused(
        422, "Invalid", 'ConfigMap "one" is invalid: []: Too long: may not be more than 1048576 bytes'
    )


def test_getting_a_missing_object_returns_404(widgets):
    group = widgets.api_version.partition("/")[0]
    status = widgets.get("one").refused(404, "NotFound", f'widgets.{group} "one" not found')
    assert status["details"] == {"name": "one", "group": group, "kind": "widgets"}


def test_deep_nesting_is_survived(widgets):
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    body = b'{"apiVersion":"%s","kind":"Widget","metadata":{"name":"one"},"spec":{"free":%s}}' % (
        widgets.api_version.encode(),
        deep,
    )
    answer = widgets.post(body)
    assert answer.status in (201, 400, 413)
    assert widgets.list().status == 200
    widgets.delete("one")


def test_a_name_with_escapes_in_the_path(configmaps):
    assert configmaps.client.get(f"{configmaps.path}/a%20b").status == 404


@pytest.mark.parametrize("value", [{}, [], "yes", 1])
def test_a_newer_field_of_a_built_in_kind_has_a_type_too(admin, ns, value):
    driver = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": f"{ns}.example.org"},
        "spec": {"preventPodSchedulingIfMissing": value},
    }
    answer = admin.post("/apis/storage.k8s.io/v1/csidrivers?dryRun=All", driver)
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert "cannot unmarshal" in answer.message

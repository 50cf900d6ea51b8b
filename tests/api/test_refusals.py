"""What is refused, and in which words: paths, methods and options that a request gets wrong."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import pytest

from tests.support.api.client import APPLY_PATCH
from tests.support.api.collection import Collection
from tests.support.api.definitions import objects, version
from tests.support.api.refusals import NO_METHOD, NO_RESOURCE, answer_to


@pytest.fixture
def plain_widgets(define, admin, ns):
    """A custom kind without subresources."""
    return objects(admin, define(version(spec={"size": {"type": "integer"}})), ns)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("subresource", ["scale", "status", "nonsense"])
def test_a_custom_kind_without_a_subresource_has_no_such_object(plain_widgets, method, subresource):
    plain_widgets.create("one")
    refused = answer_to(plain_widgets, method, plain_widgets.at("one", subresource))
    group = plain_widgets.api_version.partition("/")[0]
    status = refused.refused(404, "NotFound", f'widgets.{group} "one" not found')
    assert status["details"] == {"name": "one", "group": group, "kind": "widgets"}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("subresource", ["scale", "status", "nonsense"])
def test_a_built_in_kind_without_a_subresource_has_no_such_path(configmaps, method, subresource):
    configmaps.create("one")
    refused = answer_to(configmaps, method, configmaps.at("one", subresource))
    assert refused.refused(*NO_RESOURCE)["details"] == {}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_collection_of_a_built_in_kind_can_be_neither_replaced_nor_patched(configmaps, method):
    assert answer_to(configmaps, method, configmaps.path).refused(*NO_METHOD)["details"] == {}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_collection_of_a_custom_kind_has_no_name(widgets, method):
    answer_to(widgets, method, widgets.path).refused(400, "BadRequest", "name must be provided")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_all_namespaces_can_only_be_read(configmaps, widgets, method):
    configmaps.create("one")
    widgets.create("one")
    answer_to(configmaps, method, "/api/v1/configmaps").refused(*NO_METHOD)
    everywhere = f"/apis/{widgets.api_version}/widgets"
    answer = answer_to(widgets, method, everywhere)
    assert (answer.status, answer.text) == (404, "404 page not found\n")
    assert (configmaps.get("one").status, widgets.get("one").status) == (200, 200)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/namespaces/NS/configmaps/one"),
        ("GET", "/api/v1/namespaces/NS/serviceaccounts/default/token"),
        ("PUT", "/api/v1/namespaces/NS/serviceaccounts/default/token"),
        ("GET", "/api/v1/namespaces/NS/finalize"),
        ("DELETE", "/api/v1/namespaces/NS/finalize"),
        ("DELETE", "/api/v1/namespaces/NS/status"),
        ("DELETE", "/api/v1/namespaces"),
        ("POST", "/apis/apps/v1/namespaces/NS/deployments/one/scale"),
        ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        ("DELETE", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        ("OPTIONS", "/api/v1/namespaces/NS/configmaps"),
        ("TRACE", "/api/v1/namespaces/NS/configmaps/one"),
    ],
)
def test_methods_that_a_built_in_path_does_not_have(configmaps, ns, method, path):
    configmaps.create("one")
    assert answer_to(configmaps, method, path.replace("NS", ns)).refused(*NO_METHOD)["details"] == {}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/configmaps/one"),
        ("PUT", "/api/v1/namespaces/NS/nodes"),
        ("PATCH", "/api/v1/namespaces/NS/nonsense"),
        ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/one"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/one"),
        ("PUT", "/api/v9/pods"),
    ],
)
def test_paths_that_built_in_kinds_do_not_have(admin, configmaps, ns, method, path):
    assert answer_to(configmaps, method, path.replace("NS", ns)).refused(*NO_RESOURCE)["details"] == {}


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE"])
def test_methods_that_no_custom_kind_has(widgets, method):
    group = widgets.api_version.partition("/")[0]
    message = f' is not supported on resources of kind "widgets.{group}"'
    for path in (widgets.path, widgets.at("one"), widgets.at("one", "status")):
        status = answer_to(widgets, method, path).refused(405, "MethodNotAllowed", message)
        assert status["details"] == {"group": group, "kind": "widgets"}


def test_the_head_of_a_custom_resource_can_be_read(widgets):
    widgets.create("one")
    for path in (widgets.path, widgets.at("one")):
        answer = widgets.client.request("HEAD", path)
        assert (answer.status, answer.raw) == (200, b"")
    assert widgets.client.request("HEAD", widgets.at("two")).status == 404


def test_the_replicas_of_a_scale_must_be_there_to_be_patched(widgets):
    widgets.create("one", spec={"size": 1})
    widgets.merge("one", {}, "scale").refused(
        400, "BadRequest", 'the spec replicas field ".spec.replicas" cannot be empty'
    )
    assert widgets.merge("one", {"spec": {"replicas": 3}}, "scale").ok(200)["spec"] == {"replicas": 3}


def test_a_scale_has_the_name_of_its_object(widgets):
    widgets.create("one", spec={"replicas": 1})
    head = {"apiVersion": "autoscaling/v1", "kind": "Scale"}
    widgets.client.put(widgets.at("one", "scale"), {**head, "spec": {"replicas": 2}}).refused(
        400,
        "BadRequest",
        "the name of the object (one based on URL) was undeterminable: name must be provided",
    )
    widgets.client.put(widgets.at("one", "scale"), {**head, "metadata": {"name": "two"}}).refused(
        400, "BadRequest", "the name of the object (two) does not match the name on the URL (one)"
    )


VALIDATION = (
    'Unsupported value: "Sometimes": supported values: "", "Ignore", "Strict", "Warn"',
    "FieldValueNotSupported",
    "fieldValidation",
)
DRY_RUN = ('Unsupported value: ["x"]: supported values: "All"', "FieldValueNotSupported", "dryRun")
MANAGER = (
    'Invalid value: "a\\x01": invalid character U+0001 (at position 1)',
    "FieldValueInvalid",
    "fieldManager",
)
FORCE = ("Forbidden: may not be specified for non-apply patch", "FieldValueForbidden", "force")
NO_MANAGER = ("Required value: is required for apply patch", "FieldValueRequired", "fieldManager")


def refused_options(answer, kind, *wrong):
    """The response must list exactly these options."""
    texts = [f"{field}: {message}" for message, _, field in wrong]
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    status = answer.refused(422, "Invalid", f'{kind}.meta.k8s.io "" is invalid: {listed}')
    causes = [{"message": message, "reason": reason, "field": field} for message, reason, field in wrong]
    assert status["details"] == {"group": "meta.k8s.io", "kind": kind, "causes": causes}


def test_options_that_a_write_does_not_have(configmaps, widgets):
    for collection in (configmaps, widgets):
        obj = collection.create("one")
        odd = {"fieldValidation": "Sometimes"}
        refused_options(collection.post(collection.object("two"), **odd), "CreateOptions", VALIDATION)
        refused_options(collection.put(obj, **odd), "UpdateOptions", VALIDATION)
        refused_options(collection.merge("one", {}, **odd), "PatchOptions", VALIDATION)
        refused_options(collection.json_patch("one", [], **odd), "PatchOptions", VALIDATION)
        refused_options(collection.apply("one", {}, **odd), "PatchOptions", VALIDATION)
        refused_options(collection.put(obj, dryRun="x"), "UpdateOptions", DRY_RUN)
        refused_options(collection.merge("one", {}, dryRun="x"), "PatchOptions", DRY_RUN)
        refused_options(collection.delete("one", dryRun="x"), "DeleteOptions", DRY_RUN)
        refused_options(collection.delete("one", {"dryRun": ["x"]}), "DeleteOptions", DRY_RUN)
        collection.read("one")


def test_all_invalid_options_are_reported_at_once(configmaps):
    configmaps.create("one")
    odd = {"dryRun": "x", "fieldValidation": "Sometimes"}
    refused_options(
        configmaps.post(configmaps.object("two"), fieldManager="a\x01", **odd),
        "CreateOptions",
        MANAGER,
        DRY_RUN,
        VALIDATION,
    )
    refused_options(
        configmaps.merge("one", {}, force=False, **odd), "PatchOptions", FORCE, DRY_RUN, VALIDATION
    )
    nameless = configmaps.client.patch(configmaps.at("one"), {}, APPLY_PATCH, **odd)
    refused_options(nameless, "PatchOptions", NO_MANAGER, DRY_RUN, VALIDATION)


@pytest.mark.parametrize("value", ["", "maybe", "TRUE", "1"])
def test_a_flag_is_true_by_default(configmaps, value):
    configmaps.create("one", data={"a": "1"})
    assert configmaps.apply("one", {"data": {"a": "2"}}, force=value).status == 200
    assert configmaps.apply("one", {"data": {"a": "3"}}, "other", force="False").status == 409


def test_an_invalid_pretty_parameter_changes_nothing(configmaps):
    assert configmaps.post(configmaps.object("one"), pretty="maybe").status == 201


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            {"preconditions": "x"},
            "json: cannot unmarshal string into Go struct field DeleteOptions.preconditions of type v1.Preconditions",
        ),
        (
            {"gracePeriodSeconds": "x"},
            "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
        (
            {"kind": "X"},
            'no kind "X" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
    ],
)
def test_options_of_a_deletion_of_other_types(configmaps, widgets, body, message):
    for collection in (configmaps, widgets):
        collection.create("one")
        collection.delete("one", body).refused(400, "BadRequest", message)
        collection.read("one")


def test_the_policy_of_a_deletion_is_one_of_three(configmaps):
    configmaps.create("one")
    message = 'Unsupported value: "": supported values: "Foreground", "Background", "Orphan", "nil"'
    refused_options(
        configmaps.delete("one", {"propagationPolicy": ""}),
        "DeleteOptions",
        (message, "FieldValueNotSupported", "propagationPolicy"),
    )


@pytest.mark.parametrize("number", ["18446744073709551616", "9" * 5000])
def test_versions_of_more_than_64_bits_are_refused(configmaps, widgets, number):
    for collection in (configmaps, widgets):
        listed = collection.list(resourceVersion=number)
        assert (listed.status, listed.reason) == (400, "BadRequest")
        assert listed.message.endswith(": value out of range")
        for answer in (
            collection.get("one", resourceVersion=number),
            collection.list(watch=1, resourceVersion=number),
        ):
            assert answer.message.endswith(": value out of range")


@pytest.mark.parametrize(
    ("option", "text", "why"),
    [
        ("limit", "9" * 5000, "value out of range"),
        ("limit", "x", "invalid syntax"),
        ("timeoutSeconds", "x", "invalid syntax"),
        ("timeoutSeconds", "9" * 5000, "value out of range"),
        ("resourceVersion", "-1", "invalid syntax"),
    ],
)
def test_numbers_of_a_list_that_are_none(configmaps, option, text, why):
    refused = configmaps.list(**{option: text})
    assert (refused.status, refused.reason) == (400, "BadRequest")
    assert refused.message.endswith(f": {why}")


def test_a_path_with_an_empty_part_is_no_server_error(admin):
    for path in ("/api/v1/namespaces/default//", "/apis/apps/v1//one", "/api/v1/namespaces//configmaps"):
        assert admin.get(path).status < 500


def test_warnings_come_with_a_refusal_too(widgets):
    refused = widgets.post(widgets.object("one", spec={"nonsense": 1, "colour": "pink"}))
    assert (refused.status, refused.warnings) == (422, ['unknown field "spec.nonsense"'])


def test_a_value_that_is_not_offered_ends_the_checks_by_rules(define, admin, ns):
    rule = {"rule": "self.low < self.high", "message": "low must be below high"}
    number = {"type": "integer"}
    ranges = {
        "type": "object",
        "properties": {"low": number, "high": number},
        "x-kubernetes-validations": [rule],
    }
    colour = {"type": "string", "enum": ["red", "green"]}
    things = objects(admin, define(version(spec={"range": ranges, "colour": colour})), ns)
    refused = things.post(things.object("one", spec={"range": {"low": 2, "high": 1}, "colour": ""}))
    assert [(cause["reason"], cause["field"]) for cause in refused.causes] == [
        ("FieldValueNotSupported", "spec.colour"),
        ("FieldValueInvalid", "<nil>"),
    ]
    assert refused.causes[0]["message"] == 'Unsupported value: "": supported values: "red", "green"'
    assert refused.causes[1]["message"].startswith(
        "Invalid value: null: some validation rules were not checked"
    )


@pytest.mark.parametrize(
    ("field", "value", "supported"),
    [
        ("internalTrafficPolicy", "X", '"Cluster", "Local"'),
        ("ipFamilyPolicy", "X", '"PreferDualStack", "RequireDualStack", "SingleStack"'),
        ("sessionAffinity", "X", '"ClientIP", "None"'),
        ("type", "X", '"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'),
    ],
)
def test_choices_of_a_service(admin, ns, field, value, supported):
    services = Collection(admin, "v1", "Service", "services", ns)
    refused = services.post(services.object("one", spec={"ports": [{"port": 80}], field: value}))
    message = f'Unsupported value: "{value}": supported values: {supported}'
    cause = {"reason": "FieldValueNotSupported", "message": message, "field": f"spec.{field}"}
    assert (refused.status, refused.causes) == (422, [cause])

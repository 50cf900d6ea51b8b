"""Admission webhooks change objects or refuse them."""

from __future__ import annotations

import base64
import json

import pytest

from tests.support.api.polling import eventually
from tests.support.api.webhooks import hook, in_force


def patch(*operations):
    return {
        "allowed": True,
        "patchType": "JSONPatch",
        "patch": base64.b64encode(json.dumps(list(operations)).encode()).decode(),
    }


@pytest.fixture
def refusing(webhooks, register, ns):
    """A validating webhook that refuses what is labelled bad, known to be in force."""
    webhooks.answer = lambda request: (
        {"allowed": False, "status": {"message": "it is bad", "code": 400}}
        if ((request["object"] or {}).get("metadata", {}).get("labels") or {}).get("bad")
        else {"allowed": True, "warnings": ["think twice"]}
    )
    register("validatingwebhookconfigurations", {"webhooks": [hook(webhooks, ns)]})
    return webhooks


def test_a_webhook_refuses(configmaps, refusing):
    in_force(configmaps, refusing)
    configmaps.post(configmaps.object("one", {"labels": {"bad": "yes"}})).refused(
        400, "", 'admission webhook "hook.example.org" denied the request: it is bad'
    )
    assert configmaps.get("one").status == 404


def test_warnings_of_a_webhook_reach_the_client(configmaps, refusing):
    in_force(configmaps, refusing)
    assert configmaps.post(configmaps.object("one")).warnings == ["think twice"]


def test_a_webhook_receives_operation_kind_and_both_objects(configmaps, refusing, ns):
    in_force(configmaps, refusing)
    configmaps.create("one", data={"a": "1"})
    configmaps.merge("one", {"data": {"a": "2"}}).ok(200)
    configmaps.delete("one").ok(200)
    # A cluster writes ConfigMaps of its own into a new namespace.
    create, update, delete = (review for review in refusing.reviews if review["name"] == "one")
    assert (create["operation"], update["operation"], delete["operation"]) == ("CREATE", "UPDATE", "DELETE")
    assert create["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert create["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert (create["namespace"], create["name"], create["dryRun"]) == (ns, "one", False)
    assert create["oldObject"] is None
    assert (update["oldObject"]["data"], update["object"]["data"]) == ({"a": "1"}, {"a": "2"})
    assert delete["object"] is None
    assert delete["oldObject"]["data"] == {"a": "2"}
    assert "system:masters" in create["userInfo"]["groups"]


def test_a_webhook_changes_the_object(configmaps, webhooks, register, ns):
    webhooks.answer = lambda request: patch({"op": "add", "path": "/data", "value": {"added": "yes"}})
    register("mutatingwebhookconfigurations", {"webhooks": [hook(webhooks, ns)]})
    in_force(configmaps, webhooks)
    assert configmaps.create("one")["data"] == {"added": "yes"}


def test_a_webhook_that_cannot_be_reached_fails_the_request(configmaps, webhooks, register, ns):
    broken = hook(webhooks, ns, clientConfig={**webhooks.client_config, "url": "https://127.0.0.1:1/"})
    register("validatingwebhookconfigurations", {"webhooks": [broken]})
    answer = eventually(
        lambda: (a := configmaps.post(configmaps.object("one"), dryRun="All")).status == 500 and a
    )
    assert answer.reason == "InternalError"
    assert (
        'failed calling webhook "hook.example.org": failed to call webhook: Post "https://127.0.0.1:1/'
        in answer.message
    )


def test_a_failure_may_be_ignored(configmaps, webhooks, register, ns):
    broken = hook(
        webhooks,
        ns,
        clientConfig={**webhooks.client_config, "url": "https://127.0.0.1:1/"},
        failurePolicy="Ignore",
    )
    register("validatingwebhookconfigurations", {"webhooks": [broken]})
    configmaps.create("one")


def test_match_conditions_choose(configmaps, webhooks, register, ns):
    condition = {"name": "picked", "expression": "object.metadata.name.startsWith('picked')"}
    webhooks.answer = lambda request: {"allowed": False}
    register(
        "validatingwebhookconfigurations", {"webhooks": [hook(webhooks, ns, matchConditions=[condition])]}
    )
    refused = eventually(
        lambda: (a := configmaps.post(configmaps.object("picked"), dryRun="All")).status != 201 and a
    )
    assert refused.message == 'admission webhook "hook.example.org" denied the request without explanation'
    configmaps.create("other")


def test_webhooks_are_called_for_custom_objects(widgets, webhooks, register, ns):
    group = widgets.api_version.partition("/")[0]
    rules = [{"apiGroups": [group], "apiVersions": ["v1"], "resources": ["widgets"], "operations": ["*"]}]
    webhooks.answer = lambda request: patch({"op": "add", "path": "/spec", "value": {"size": 7}})
    register("mutatingwebhookconfigurations", {"webhooks": [hook(webhooks, ns, rules=rules)]})
    eventually(lambda: widgets.post(widgets.object("probe"), dryRun="All").json.get("spec"))
    assert widgets.create("one")["spec"] == {"size": 7, "mode": "plain"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"sideEffects": "Some"}, "webhooks[0].sideEffects"),
        ({"admissionReviewVersions": []}, "webhooks[0].admissionReviewVersions"),
        ({"name": "plain"}, "webhooks[0].name"),
        ({"timeoutSeconds": 31}, "webhooks[0].timeoutSeconds"),
        ({"failurePolicy": "Maybe"}, "webhooks[0].failurePolicy"),
        ({"clientConfig": {}}, "webhooks[0].clientConfig"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value),
)
def test_bad_configurations_are_refused(admin, webhooks, ns, change, field):
    body = {"metadata": {"name": f"bad-{ns}"}, "webhooks": [hook(webhooks, ns, **change)]}
    answer = admin.post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", body)
    assert answer.status == 422
    assert field in [cause["field"] for cause in answer.causes]

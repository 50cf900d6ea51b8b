"""Owners of the objects of a package, and the addresses of a Provider's webhooks."""

from __future__ import annotations

import pytest

from crossply.control.package_manager.install_failures import FetchBackoff
from crossply.control.package_manager.owner_references import AlreadyControlled, owners, released
from crossply.control.package_manager.package_checks import capabilities, check_digest, check_version, copied
from crossply.control.package_manager.provider_webhooks import call_back, pointed_home
from crossply.kube.controller import Waiting
from crossply.xpkg.failures import WrongDigest

PACKAGE = {"apiVersion": "pkg.crossplane.io/v1", "kind": "Provider", "name": "p", "uid": "uid-p"}
REVISION = {
    "apiVersion": "pkg.crossplane.io/v1",
    "kind": "ProviderRevision",
    "metadata": {
        "name": "p-1",
        "uid": "uid-1",
        "labels": {"pkg.crossplane.io/package": "p"},
        "ownerReferences": [{**PACKAGE, "controller": True, "blockOwnerDeletion": True}],
    },
}
SELF = {"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision", "name": "p-1", "uid": "uid-1"}
KEEPER = {**PACKAGE, "controller": False, "blockOwnerDeletion": True}
CONTROLLER = {**SELF, "controller": True, "blockOwnerDeletion": True}
OTHER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "uid-c"}


def live(*references: dict) -> dict:
    return {"metadata": {"name": "x", "ownerReferences": list(references)}}


def test_the_active_revision_controls_and_the_package_keeps():
    assert owners(None, "x", REVISION, active=True) == [KEEPER, CONTROLLER]
    assert owners(live(OTHER, SELF), "x", REVISION, active=True) == [OTHER, CONTROLLER, KEEPER]


def test_another_revision_only_owns():
    assert owners(None, "x", REVISION, active=False) == [KEEPER, SELF]
    assert owners(live(CONTROLLER), "x", REVISION, active=False) == [CONTROLLER, KEEPER]


def test_an_object_with_another_controller_is_not_adopted():
    with pytest.raises(
        AlreadyControlled, match=r"^x is already controlled by ConfigMap c \(UID uid-c\)$"
    ) as refused:
        owners(live({**OTHER, "controller": True}), "x", REVISION, active=True)
    assert refused.value.owner["uid"] == "uid-c"


def test_a_foreign_object_that_is_being_deleted_is_reported_as_such():
    deleted = live({**OTHER, "controller": True})
    deleted["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.org/held"]}
    with pytest.raises(AlreadyControlled) as refused:
        owners(deleted, "x", REVISION, active=True)
    assert str(refused.value) == (
        "x is already controlled by ConfigMap c (UID uid-c), and is being deleted and waits for its "
        "finalizers: example.org/held; its conditions and events say why"
    )


def test_a_revision_that_releases_control_stays_an_owner():
    assert released(live(KEEPER, CONTROLLER), REVISION) == [KEEPER, {**CONTROLLER, "controller": False}]
    assert released(live(KEEPER), REVISION) == [KEEPER, SELF]
    assert released(live({**CONTROLLER, "controller": False}), REVISION) is None


def test_webhooks_lead_to_the_service_of_the_package():
    configuration = {
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "everybody-calls-it-so"},
        "webhooks": [
            {"name": "a", "clientConfig": {"url": "https://evil.example", "service": {"path": "/a"}}}
        ],
    }
    assert call_back([configuration])
    webhook = pointed_home(configuration, REVISION, "home", "Y2VydA==")
    assert webhook["metadata"]["name"] == "crossplane-provider-p"
    service = {"name": "p", "namespace": "home", "port": 9443, "path": "/a"}
    assert webhook["webhooks"][0]["clientConfig"] == {"caBundle": "Y2VydA==", "service": service}


def test_a_conversion_leads_there_too():
    crd = {"kind": "CustomResourceDefinition", "spec": {"group": "x", "conversion": {"strategy": "Webhook"}}}
    assert call_back([crd])
    webhook = pointed_home(crd, REVISION, "home", "Y2VydA==")["spec"]["conversion"]["webhook"]
    assert webhook["clientConfig"]["service"] == {"name": "p", "namespace": "home", "port": 9443}
    assert webhook["conversionReviewVersions"] == ["v1"]
    plain = {"kind": "CustomResourceDefinition", "spec": {"group": "x"}}
    assert not call_back([plain])
    assert pointed_home(plain, REVISION, "home", "Y2VydA==") is plain


def test_a_package_cannot_set_its_runtime_or_owner():
    meta = {
        "crossply.dev/runtime": "process",
        "render.crossplane.io/runtime": "Development",
        "pkg.crossplane.io/package": "another",
        "crossplane.io/paused": "true",
        "pkg.crossplane.io/provider-family": "family",
        "team": "a",
    }
    assert copied(meta) == {"pkg.crossplane.io/provider-family": "family", "team": "a"}


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"kind": "Function", "spec": {}}, ["composition"]),
        ({"kind": "Function", "spec": {"capabilities": ["operation"]}}, ["operation"]),
        ({"kind": "Provider", "spec": {}}, []),
    ],
)
def test_a_function_without_declared_capabilities_can_compose(meta, expected):
    assert capabilities(meta) == expected


@pytest.mark.parametrize("constraint", [">=v1.14.1", ">=v2.0.0-0", "^v2.1.0", ""])
def test_packages_for_crossplane_work_here(constraint):
    check_version({"spec": {"crossplane": {"version": constraint}} if constraint else {}})


def test_an_image_must_be_the_one_that_its_revision_is_named_after():
    check_digest("function-x-0123456789ab", f"sha256:0123456789ab{'0' * 52}")
    check_digest("of-another-name", f"sha256:{'0' * 64}")
    with pytest.raises(WrongDigest, match=r"by now, which is not that of function-x-0123456789ab$"):
        check_digest("function-x-0123456789ab", f"sha256:{'0' * 64}")


def test_a_package_that_failed_to_fetch_is_retried_only_after_a_delay():
    now = [100.0]
    backoff = FetchBackoff(lambda: now[0])
    backoff.check("a", 1)
    with pytest.raises(WrongDigest), backoff.after_failure("a", 1):
        raise WrongDigest("x")
    with pytest.raises(Waiting):
        backoff.check("a", 1)
    backoff.check("a", 2)
    backoff.check("b", 1)
    now[0] += 1.5
    backoff.check("a", 1)
    with backoff.after_failure("a", 1):
        pass
    now[0] -= 1.5
    backoff.check("a", 1)

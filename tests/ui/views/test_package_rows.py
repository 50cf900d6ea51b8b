import pytest

from crossply.ui.views.package_rows import (
    dependencies_of,
    dependents_of,
    installed_groups,
    package_revision_rows,
    package_rows,
)
from tests.support.ui.shop_platform import FUNCTIONS, SHOP_COMPOSITION

LOCK = {
    "packages": [
        {
            "name": "platform-1",
            "source": "example.org/platform",
            "version": "v1",
            "dependencies": [
                {"package": "example.org/fn", "type": "Function", "constraints": ">=v1"},
                {"package": "example.org/gone", "apiVersion": "v1", "kind": "Provider", "constraints": "v2"},
            ],
        },
        {"name": "fn-1", "source": "example.org/fn", "version": "v1.2"},
    ]
}


def _condition(type_: str, status: str, message: str = "") -> dict:
    return {"type": type_, "status": status, "message": message}


def test_a_function_is_used_by_the_compositions_that_call_it():
    rows = package_rows(FUNCTIONS, [SHOP_COMPOSITION])
    assert [(row.name, row.uses) for row in rows] == [
        ("function-auto-ready", ("shop",)),
        ("function-go-templating", ("shop",)),
        ("function-patch-and-transform", ("shop",)),
    ]


@pytest.mark.parametrize(
    ("conditions", "word", "message"),
    [
        ([_condition("Installed", "True"), _condition("Healthy", "True")], "Healthy", ""),
        ([_condition("Installed", "False", "no such image")], "Not installed", "no such image"),
        ([_condition("Installed", "True"), _condition("Healthy", "False", "crash")], "Unhealthy", "crash"),
        (
            [_condition("Installed", "True"), _condition("Healthy", "Unknown", "pulling")],
            "Waiting",
            "pulling",
        ),
        ([], "Waiting", ""),
        ("garbage", "Waiting", ""),
    ],
)
def test_a_package_reports_its_state_and_reason(conditions: object, word: str, message: str):
    [row] = package_rows([{**FUNCTIONS[0], "status": {"conditions": conditions}}], [])
    assert (row.health.word, row.health.message) == (word, message)


def test_a_provider_installs_the_groups_of_its_kinds():
    refs = [
        {"kind": "CustomResourceDefinition", "name": "buckets.cloud.example.org"},
        {"kind": "ManagedResourceDefinition", "name": "zones.dns.example.org"},
        {"kind": "ValidatingWebhookConfiguration", "name": "a.b.example.org"},
    ]
    metadata = {"name": "cloud-1", "ownerReferences": [{"name": "cloud", "controller": True}]}
    revisions = [{"metadata": metadata, "status": {"objectRefs": refs}}, {"metadata": {"name": "other"}}]
    assert installed_groups(revisions, "cloud") == {"cloud.example.org", "dns.example.org"}


def test_revisions_of_a_package_come_newest_first():
    def revision(name: str, number: int, owner: str) -> dict:
        owners = [{"name": owner, "controller": True}]
        spec = {"revision": number, "desiredState": "Active" if number == 2 else "Inactive"}
        return {"metadata": {"name": name, "ownerReferences": owners}, "spec": spec}

    revisions = [revision("a-1", 1, "a"), revision("a-2", 2, "a"), revision("b-1", 1, "b")]
    assert [(row.name, row.is_active) for row in package_revision_rows(revisions, "a")] == [
        ("a-2", True),
        ("a-1", False),
    ]


def test_dependencies_are_those_of_the_lock_with_installed_versions():
    assert [tuple(dependency) for dependency in dependencies_of(LOCK, "platform-1")] == [
        ("example.org/fn", ">=v1", "Function", "v1.2"),
        ("example.org/gone", "v2", "Provider", ""),
    ]
    assert dependents_of(LOCK, "fn-1") == ["platform-1"]
    assert dependencies_of({}, "") == []
    assert dependents_of({"packages": [None, {"dependencies": 1}]}, "") == []

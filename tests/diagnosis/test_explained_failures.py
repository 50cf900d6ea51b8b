"""`explain` shows the cause at once: the scenarios of docs/how-to/find-out-why.md, and more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cli.up_process import Plane, plane_at
from tests.support.diagnosis.failure_scenarios import (
    GROUP,
    FailureScenarios,
    apply,
    composing,
    composition,
    definition,
    manifests,
    xr,
)

pytestmark = pytest.mark.xdist_group("diagnosis")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    directory = tmp_path_factory.mktemp("scenarios")
    with plane_at(directory / "data") as plane:
        started = plane.up("--allow-local-commands", "--in-memory")
        assert started.returncode == 0, started.stderr
        asyncio.run(apply(plane.data, manifests(directory / "provider")))
        yield plane


@pytest.fixture
def scenarios(plane: Plane, capsys: Any, monkeypatch: Any) -> FailureScenarios:
    return FailureScenarios(plane, capsys, monkeypatch)


def test_a_wrong_field(scenarios: FailureScenarios) -> None:
    text = scenarios.explain_until("has a wrong field", "site/mine")
    assert text.startswith(
        "Site/mine (default) is not ready: Synced is False, Ready is False\n\nWhy: Server/mine-"
    )
    assert 'composed resource "server" has a wrong field: spec.port: Invalid value: 70000' in text
    assert f"next: kubectl explain server.spec.port --api-version={GROUP}/v1" in text
    assert "Also:" not in text, "the XR and what it could not compose have one cause"


def test_a_function_that_fails(scenarios: FailureScenarios) -> None:
    text = scenarios.explain_until("returned a fatal result", "check/mine")
    assert 'Why: Check/mine (default): step "compose" (Function function-go-templating) returned' in text
    assert "no such region: mars" in text
    assert "next: kubectl get compositionrevisions.apiextensions.crossplane.io check-" in text


def test_a_missing_right(scenarios: FailureScenarios) -> None:
    text = scenarios.explain_until("a right is missing", "note/mine")
    assert "service account default/notes may not get configmaps in namespace default" in text
    assert "next: kubectl create role crossplane:composed:note:" in text
    assert "--serviceaccount=default:notes" in text


def test_a_service_account_that_does_not_exist_is_the_cause_of_its_missing_rights(
    scenarios: FailureScenarios,
) -> None:
    scenarios.apply(
        definition("Memo", serviceAccountRef={"namespace": "default", "name": "memos"}),
        composition("Memo", composing("ConfigMap", "v1", "memo")),
        xr("Memo"),
    )
    text = scenarios.explain_until("does not exist", "memo/mine")
    assert "service account default/memos does not exist, which the definition composes as" in text
    assert "next: kubectl create serviceaccount memos -n default\n" in text
    metadata = {"name": "memos", "namespace": "default"}
    scenarios.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    text = scenarios.explain("memo/mine")
    assert "a right is missing: service account default/memos may not " in text


def test_an_unmet_readiness_check_is_named_with_what_the_resource_has(scenarios: FailureScenarios) -> None:
    function = {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": "function-patch-and-transform"},
        "spec": {"package": "xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.10.0"},
    }
    part = {
        "name": "settings",
        "base": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"state": "down"}},
        "readinessChecks": [{"type": "MatchString", "fieldPath": "data.state", "matchString": "up"}],
    }
    composed = composition("Gate", "")
    composed["spec"]["pipeline"] = [
        {
            "step": "compose",
            "functionRef": {"name": "function-patch-and-transform"},
            "input": {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": [part]},
        }
    ]
    scenarios.apply(function, definition("Gate"), composed, xr("Gate"))
    text = scenarios.explain_until("readiness check", "gate/mine")
    assert "Why: ConfigMap/mine-" in text
    assert 'readiness check is not met: data.state must be "up", and is "down"' in text


def test_a_provider_that_is_down(scenarios: FailureScenarios) -> None:
    text = scenarios.explain_until("no such database: orders", "order/mine")
    assert "its kind comes from Provider provider-try, which is not running: " in text
    assert "next: crossply logs provider/provider-try" in text
    text = scenarios.explain("provider/provider-try")
    assert text.startswith("Provider/provider-try is not healthy")
    assert "no such database: orders" in text


def test_an_explanation_is_an_object_for_programs(scenarios: FailureScenarios) -> None:
    scenarios.explain_until("returned a fatal result", "check/mine")
    explanation = json.loads(scenarios.explain("check/mine", "-o", "json"))
    assert explanation["ref"] == {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Check",
        "name": "mine",
        "namespace": "default",
    }
    assert "no such region: mars" in explanation["cause"]["sentence"]
    assert explanation["cause"]["command"].startswith("kubectl get")
    assert explanation["selection"]["composition"] == "Composition check: the only Composition for Check"
    assert explanation["selection"]["revision"].endswith("the newest, compositionUpdatePolicy is Automatic")
    assert explanation["wakeups"][0].startswith("a retry")


def test_a_selection_without_a_match_names_the_existing_compositions(scenarios: FailureScenarios) -> None:
    scenarios.apply(
        definition("Shop"),
        composition("Shop", '{{ "" }}', "shops"),
        xr("Shop", "typo", crossplane={"compositionRef": {"name": "shop"}}),
        xr("Shop", "labels", crossplane={"compositionSelector": {"matchLabels": {"tier": "gold"}}}),
        xr(
            "Shop",
            "pinned",
            crossplane={
                "compositionRef": {"name": "shops"},
                "compositionRevisionRef": {"name": "shops-gone"},
                "compositionUpdatePolicy": "Manual",
            },
        ),
        xr("Shop", "well"),
    )
    scenarios.explain_until("it does not exist; did you mean shops?", "shop/typo")
    scenarios.explain_until(
        "no Composition: its compositionSelector wants tier=gold, but shops has no labels", "shop/labels"
    )
    text = scenarios.explain_until(
        "pinned to CompositionRevision shops-gone, which does not exist", "shop/pinned"
    )
    assert """-p '{"spec":{"crossplane":{"compositionUpdatePolicy":"Automatic"}}}'""" in text
    text = scenarios.explain_until("Shop/well (default) is synced and ready: nothing is wrong\n", "shop/well")
    assert "Why:" not in text
    assert "Composition shops: the only Composition for Shop" in text


def test_the_blockers_of_a_deletion_are_named_by_explain(scenarios: FailureScenarios) -> None:
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kept", "namespace": "default"},
    }
    usage = {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "Usage",
        "metadata": {"name": "keep", "namespace": "default"},
        "spec": {
            "of": {"apiVersion": "v1", "kind": "ConfigMap", "resourceRef": {"name": "kept"}},
            "reason": "it is the only copy",
        },
    }
    scenarios.apply(config_map, usage)
    text = scenarios.explain("configmap/kept")
    assert text.startswith("ConfigMap/kept (default) exists and reports no conditions: nothing is wrong\n")
    assert "Usage/keep protects it: nobody may delete it (it is the only copy)" in text
    assert "next: kubectl describe usages.protection.crossplane.io keep -n default" in text


def test_a_reader_gets_only_the_permitted_parts(scenarios: FailureScenarios) -> None:
    scenarios.explain_until("returned a fatal result", "check/mine")
    scenarios.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "check-reader"},
            "rules": [{"apiGroups": [GROUP], "resources": ["checks", "maps"], "verbs": ["get"]}],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "check-reader"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "check-reader",
            },
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
        },
    )
    text = scenarios.explain_until("no such region: mars", "check/mine", "--as", "jane")
    assert "Composed by" not in text
    template = composing("ConfigMap", "v1", "map").replace(
        "{gotempl", '{gotemplating.fn.crossplane.io/ready: "True", gotempl'
    )
    scenarios.apply(definition("Map"), composition("Map", template), xr("Map"))
    scenarios.explain_until("nothing is wrong", "map/mine")
    text = scenarios.explain("map/mine", "--as", "jane")
    assert text.startswith("Map/mine (default) is synced and ready: nothing is wrong\n")
    assert "forbidden" not in text
    left_out = text.splitlines()[-1]
    assert left_out.startswith("Left out, because you may not read it: ConfigMap/mine-")
    assert "CompositeResourceDefinition" in left_out

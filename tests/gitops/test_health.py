"""Argo CD, Flux and kstatus see the state that an object is in, by their own rules and our conditions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import lupa.lua51
import pytest
from cel_expr_python import cel

from crossply.compose.conditions import AVAILABLE, CREATING, SYNCED, failed
from crossply.compose.events import StatusCondition
from crossply.values import Object, yaml
from tests.support.docs.pages import ROOT
from tests.support.programs import path_of

GITOPS = ROOT / "deploy/gitops"
PAUSED = StatusCondition("Synced", "False", "ReconcilePaused", "Reconciliation is paused")
FAILED = failed("cannot compose resources: no right")
UNPACKING = StatusCondition("Installed", "False", "UnpackingPackage")
INSTALLED = StatusCondition("Installed", "True", "ActivePackageRevision")
HEALTHY = StatusCondition("Healthy", "True", "HealthyPackageRevision")
UNHEALTHY = StatusCondition("Healthy", "False", "UnhealthyPackageRevision", "cannot pull")


class Row(NamedTuple):
    """An object, and what each tool is to make of it; Flux's expressions are for composite resources only."""

    reason: str
    obj: Object
    argo_cd: str
    kstatus: str
    flux: str | None = None


def composite(*conditions: StatusCondition, observed: int = 2, **metadata: Any) -> Object:
    return of_kind("Database", *conditions, observed=observed, **metadata)


def of_kind(kind: str, *conditions: StatusCondition, observed: int = 2, **metadata: Any) -> Object:
    status = {
        "conditions": [
            {
                "type": condition.type,
                "status": condition.status,
                "reason": condition.reason,
                **({"message": condition.message} if condition.message else {}),
                "observedGeneration": observed,
                "lastTransitionTime": "2026-11-17T00:00:00Z",
            }
            for condition in conditions
        ]
    }
    return {
        "apiVersion": "example.org/v1alpha1",
        "kind": kind,
        "metadata": {"name": "orders", "namespace": "team", "generation": 2, **metadata},
        **({"status": status} if conditions else {}),
    }


GOING = {"deletionTimestamp": "2026-11-17T00:00:00Z", "finalizers": ["composite.apiextensions.crossplane.io"]}
PAUSE = {"annotations": {"crossplane.io/paused": "true"}}
ROWS = [
    Row("composed and ready", composite(SYNCED, AVAILABLE), "Healthy", "Current", "current"),
    Row("being composed", composite(SYNCED, CREATING), "Progressing", "InProgress", "inProgress"),
    Row("cannot be composed", composite(FAILED, CREATING), "Degraded", "InProgress", "failed"),
    Row("was ready, now fails", composite(FAILED, AVAILABLE), "Degraded", "Current", "failed"),
    Row("was just created", composite(), "Progressing", "Current", "waits"),
    Row("only synced", composite(SYNCED), "Progressing", "Current", None),
    Row("paused", composite(PAUSED, AVAILABLE, **PAUSE), "Suspended", "Current", None),
    Row("being deleted", composite(SYNCED, AVAILABLE, **GOING), "Progressing", "Terminating", None),
    Row(
        "edited, not yet reconciled",
        composite(SYNCED, AVAILABLE, observed=1),
        "Progressing",
        "Current",
        "waits",
    ),
    Row("a package that is installed", of_kind("Provider", INSTALLED, HEALTHY), "Healthy", "Current"),
    Row("a package that is unpacked", of_kind("Provider", UNPACKING), "Progressing", "Current"),
    Row("a package that fails", of_kind("Function", INSTALLED, UNHEALTHY), "Degraded", "Current"),
    Row("a Composition", of_kind("Composition"), "Healthy", "Current"),
]
IDS = [row.reason for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_argo_cd_shows_the_health_of_an_object(row: Row) -> None:
    lua = lupa.lua51.LuaRuntime(unpack_returned_tuples=True)
    lua.globals().obj = lua.table_from(row.obj, recursive=True)
    health = lua.execute((GITOPS / "argocd/health.lua").read_text())
    assert health["status"] == row.argo_cd
    if row.argo_cd == "Degraded":
        assert "no right" in health["message"] or "cannot pull" in health["message"]


def test_the_config_map_of_argo_cd_has_the_script() -> None:
    command = [sys.executable, ROOT / "tools/gitops_files.py", "--check"]
    assert subprocess.run(command, check=False).returncode == 0
    data = yaml.read_first((GITOPS / "argocd/argocd-cm.yaml").read_text()).value["data"]
    customizations = yaml.read_first(data["resource.customizations"]).value
    script = (GITOPS / "argocd/health.lua").read_text()
    assert {entry["health.lua"] for entry in customizations.values()} == {script}


def flux_expressions() -> dict[str, str]:
    kustomization = yaml.read_first((GITOPS / "flux/kustomization.yaml").read_text()).value
    (checks,) = kustomization["spec"]["healthCheckExprs"]
    return {name: checks[name] for name in ("inProgress", "failed", "current")}


def flux_state(obj: Object) -> str:
    """The first expression that holds, in Flux's order; it waits where none does or a field is missing."""
    variables = dict.fromkeys(("apiVersion", "kind", "metadata", "spec", "status"), cel.Type.DYN)
    environment = cel.NewEnv(variables=variables)
    for state, expression in flux_expressions().items():
        value = environment.compile(expression).eval(data=obj)
        if value.type() == cel.Type.BOOL and value.value():
            return state
    return "waits"


@pytest.mark.parametrize("row", [row for row in ROWS if row.flux], ids=lambda row: row.reason)
def test_flux_waits_until_a_composite_resource_is_ready_and_not_for_one_that_fails(row: Row) -> None:
    assert flux_state(row.obj) == row.flux


@pytest.fixture(scope="module")
def kstatus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that runs the real kstatus; Go caches its build."""
    program = tmp_path_factory.mktemp("kstatus") / "kstatus"
    command = [path_of("go"), "build", "-o", str(program), "."]
    folder = ROOT / "tests/gitops/kstatus"
    built = subprocess.run(
        command, cwd=folder, env={**os.environ, "CGO_ENABLED": "0"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return program


def test_kstatus_computes_the_state_from_the_conditions(kstatus: Path) -> None:
    objects = "\n".join(json.dumps(row.obj) for row in ROWS)
    done = subprocess.run([kstatus], input=objects, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    computed = done.stdout.splitlines()
    assert dict(zip(IDS, computed, strict=True)) == {row.reason: row.kstatus for row in ROWS}

"""`crossply explain RESOURCE [FIELD]` and `plan --explain` on a running control plane."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess

import pytest

from tests.support.e2e.kubeconfig import kubeconfig_for
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.planned_things import composition, settled
from tests.support.e2e.plans import CROSSPLY, node_of
from tests.support.e2e.scenario import Scenario
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("e2e")


async def explain(s: Scenario, directory, *words: str, fails: bool = False) -> str:
    kubeconfig = directory / "kubeconfig"
    kubeconfig.write_text(json.dumps(await kubeconfig_for(s.client.config)))
    done = await asyncio.to_thread(
        subprocess.run,
        [CROSSPLY, "explain", *words, "-n", s.id],
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == fails, done.stderr
    return done.stderr if fails else done.stdout


async def test_a_field_of_a_live_resource_names_its_patch_its_source_and_its_manager(s, tmp_path):
    things = await settled(s, resources(entry("one", SIZE)))
    xr = await things.get("mine")
    composed = (await things.composed(xr))["one"]["metadata"]["name"]
    text = await explain(s, tmp_path, f"configmap/{composed}", "data.size")
    assert 'data.size: "3"' in text
    assert "patch 0 (FromCompositeFieldPath)" in text
    assert "from  spec.size" in text
    assert "written by  the control plane (Apply" in text
    document = json.loads(await explain(s, tmp_path, f"configmap/{composed}", "data", "-o", "json"))
    [field] = document["fields"]
    assert field["source"]["sources"] == [{"object": "composite", "path": "spec.size", "use": "value"}]
    problem = await explain(s, tmp_path, f"configmap/{composed}", "data.sise", fails=True)
    assert "did you mean data.size" in problem
    table = await explain(s, tmp_path, f"configmap/{composed}")
    assert "FIELD" in table
    assert "more fields are set by the engine and the API server" in table


async def test_a_plan_names_the_patch_that_would_change_a_field(s, plans):
    things = await settled(s, resources(entry("one", SIZE)))
    planned = await plans.of(things.body("mine", {"size": "4"}), words=("-o", "json", "--explain"))
    [field] = node_of(planned, "ConfigMap", "one")["fields"]
    assert field["source"]["how"] == "patch 0 (FromCompositeFieldPath)"
    changed = composition(things, resources(entry("one", SIZE, base={"data": {"new": "yes"}})))
    planned = await plans.of(changed, words=("--explain",))
    assert ": base" in planned.text

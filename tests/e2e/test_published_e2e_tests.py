"""E2ETests of `up` in a running control plane: what is applied, what is waited for, and what is left."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.testing.e2e_run import ANNOTATION, EndToEndRun, read_e2e_test
from crossply.testing.results import FAILED, PASSED, CaseResult
from crossply.testing.suite_field_reader import SuiteError
from crossply.values.yaml import Document
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import CONFIG_MAP, Scenario
from tests.support.e2e.things import Things

pytestmark = pytest.mark.xdist_group("e2e")


def document(**spec: Any) -> Document:
    return Document({"kind": "E2ETest", "metadata": {"name": "it"}, "spec": spec}, "tests/it/test.yaml", 1)


def config_map(s: Scenario, name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": s.id}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}


def thing(things: Things, name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": things.s.id}
    return {
        "apiVersion": things.kind.api_version,
        "kind": "Thing",
        "metadata": metadata,
        "spec": {"size": "3"},
    }


async def run(s: Scenario, things: Things, **spec: Any) -> CaseResult:
    test = read_e2e_test(document(**spec))
    return await EndToEndRun(s.client, test, [things.kind.resource]).result()


async def test_ready_resources_pass_and_created_ones_are_deleted(s: Scenario) -> None:
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await s.client.apply(CONFIG_MAP, config_map(s, "before"), "somebody")
    result = await run(
        s,
        things,
        initResources=[config_map(s, "init"), config_map(s, "before")],
        extraResources=[config_map(s, "extra")],
        manifests=[thing(things, "mine")],
        defaultConditions=["Ready", "Synced"],
    )
    assert (result.status, result.findings) == (PASSED, ())
    assert await s.client.get(things.kind, "mine", s.id) is None
    for name in ("init", "extra"):
        assert await s.client.get(CONFIG_MAP, name, s.id) is None
    assert await s.client.get(CONFIG_MAP, "before", s.id) is not None, "it was there before the test"


async def test_resources_that_a_test_skips_deleting_are_marked(s: Scenario) -> None:
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    result = await run(s, things, manifests=[thing(things, "mine")], skipDelete=True)
    assert result.status == PASSED
    live = await s.client.get(things.kind, "mine", s.id)
    assert live is not None
    assert live["metadata"]["annotations"][ANNOTATION] == "true"
    await things.delete("mine")


async def test_a_condition_that_is_not_met_is_reported_with_the_present_ones(s: Scenario) -> None:
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE, ready="yes")))
    result = await run(s, things, manifests=[thing(things, "mine")], timeoutSeconds=1)
    assert result.status == FAILED
    [finding] = result.findings
    assert finding.message == "Thing mine: condition Ready after 1 seconds"
    assert (finding.expected, finding.actual) == ("True", "False, Creating, Unready resources: one")
    assert await s.client.get(things.kind, "mine", s.id) is None


async def test_a_project_that_is_not_installed_is_reported(s: Scenario) -> None:
    things = Things(s)
    result = await run(s, things, manifests=[thing(things, "mine")])
    [finding] = result.findings
    assert (result.status, finding.message) == (
        FAILED,
        f"the project is not installed: {things.kind.resource}",
    )
    assert "crossply xpkg install" in finding.hint


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({}, "at least one manifest is needed"),
        ({"manifests": [{"kind": "X"}]}, r"manifests\[0\]: needs an apiVersion, a kind and a name"),
        ({"manifests": ["x"]}, r"manifests\[0\]: needs"),
        (
            {
                "manifests": [{"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}}],
                "timeoutSeconds": 0,
            },
            "at least 1",
        ),
    ],
)
def test_an_invalid_test_is_reported(spec: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SuiteError, match=sentence):
        read_e2e_test(document(**spec))

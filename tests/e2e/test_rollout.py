"""Controlled rollout: several revisions of a Function are active, and steps choose among them."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.failures import Invalid
from tests.support.control_plane import running
from tests.support.e2e.function_versions import NONE_ACTIVE, REVISIONS, Installed, marking_function
from tests.support.e2e.pipelines import served
from tests.support.e2e.plans import Plans
from tests.support.e2e.scenario import FUNCTION, Scenario
from tests.support.e2e.things import READY, SYNCED, Things, failing, until_event_recorded
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("packages")

STABLE, ALPHA = {"channel": "stable"}, {"channel": "alpha"}
TWO = {"revisionHistoryLimit": 4, "activeRevisionLimit": 2}


@contextlib.contextmanager
def versions(*names):
    """Versions of a function, served; their addresses."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(served(marking_function(name))) for name in names]


def selecting(labels):
    return {"functionRevisionSelector": {"matchLabels": labels}}


def on(things, labels):
    """A composite resource that follows the revisions of its Composition with these labels."""
    return things.engine_spec(compositionRevisionSelector={"matchLabels": labels})


async def authors_of(things, *names):
    """By which version each was composed."""
    authors = []
    for name in names:
        xr = await things.get(name)
        [config_map] = (await things.composed(xr)).values()
        authors.append(config_map["data"]["by"])
    return authors


async def until_author_is(things, author, *names):
    async def so():
        return set(await authors_of(things, *names)) == {author}

    for name in names:
        await things.until(name, SYNCED, READY)
    await things.s.eventually(so)


async def rolled_out(s, old, new):
    """Half of the composite resources on each of two active revisions, by selectors."""
    function, things = Installed(s), await Things.defined(s)
    await function.apply(old, STABLE, **TWO)
    await function.until_states("Active")
    await function.apply(new, ALPHA, **TWO)
    await function.until_states("Active", "Active")
    for labels in (STABLE, ALPHA):
        await things.compose(function.step(**selecting(labels)), labels=labels)
    for name, labels in (("a", STABLE), ("b", STABLE), ("c", ALPHA), ("d", ALPHA)):
        await things.apply(name, on(things, labels))
    await until_author_is(things, "old", "a", "b")
    await until_author_is(things, "new", "c", "d")
    return function, things


async def test_half_of_the_xrs_on_either_of_two_active_revisions_promoted_and_rolled_back(s):
    async def scenario(s, old, new):
        _, things = await rolled_out(s, old, new)
        await things.apply("a", on(things, ALPHA))
        await until_author_is(things, "new", "a")
        assert await authors_of(things, "b", "c", "d") == ["old", "new", "new"]
        await things.apply("b", on(things, ALPHA))
        await until_author_is(things, "new", "b")
        for name in "abcd":
            await things.apply(name, on(things, STABLE))
        await until_author_is(things, "old", *"abcd")

    with versions("old", "new") as addresses:
        await scenario(s, *addresses)


async def test_without_an_active_revision_the_calling_xrs_report_it_and_others_do_not(s):
    async def scenario(s, old, new):
        function, things = await rolled_out(s, old, new)
        await function.until_observed(
            await function.apply(new, ALPHA, revisionActivationPolicy="Manual", **TWO)
        )
        [stable, _] = await function.until_states("Active", "Active")
        await deactivate(s, stable)
        for name in "ab":
            xr = await things.until(name, failing(f'for Function "{function.name}": {NONE_ACTIVE}'))
            message = (
                'cannot compose resources: cannot run Composition pipeline step "tell": cannot get gRPC '
                f'client connection for Function "{function.name}": {NONE_ACTIVE} with the labels '
                + ", ".join(f"{key}={value}" for key, value in STABLE.items())
            )
            await until_event_recorded(s, xr, "Warning", "ComposeResources", message)
        for name in "cd":
            assert SYNCED(await things.get(name))
        assert await authors_of(things, *"abcd") == ["old", "old", "new", "new"], "nothing is deleted"
        for revision in await function.revisions():
            await deactivate(s, revision)
        for name in "cd":
            await things.until(name, failing(NONE_ACTIVE))
        # The last one once more; XRs that select it are composed without being touched.
        await s.client.patch_merge(
            REVISIONS, stable["metadata"]["name"], {"spec": {"desiredState": "Active"}}
        )
        await until_author_is(things, "old", "a", "b")

    with versions("old", "new") as addresses:
        await scenario(s, *addresses)


async def deactivate(s, revision):
    name = revision["metadata"]["name"]
    await s.client.patch_merge(REVISIONS, name, {"spec": {"desiredState": "Inactive"}})


async def test_a_step_may_name_the_revision_it_calls_and_without_a_word_gets_the_newest(s):
    async def scenario(s, old, new):
        function, things = Installed(s), await Things.defined(s)
        await function.apply(old, **TWO)
        [first] = await function.until_states("Active")
        await things.compose(function.step(functionRevisionRef={"name": first["metadata"]["name"]}))
        await things.apply("named")
        await until_author_is(things, "old", "named")
        newest = await Things.defined(s, kind="Other")
        await newest.compose(function.step(), name=f"{s.id}-other")
        await newest.apply("newest")
        await until_author_is(newest, "old", "newest")
        await function.apply(new, **TWO)
        await until_author_is(newest, "new", "newest")
        assert await authors_of(things, "named") == ["old"]
        events = await s.events(await newest.get("newest"))
        assert not [event for event in events if event[0] == "Warning"], "nothing failed in between"

    with versions("old", "new") as addresses:
        await scenario(s, *addresses)


async def test_a_new_label_of_a_function_selects_its_current_revision(s):
    async def scenario(s, old, new):
        function, things = Installed(s), await Things.defined(s)
        await function.apply(old, STABLE, **TWO)
        await function.until_states("Active")
        await function.apply(new, ALPHA, **TWO)
        await function.until_states("Active", "Active")
        await things.compose(function.step(**selecting(STABLE)))
        await things.apply("mine")
        await until_author_is(things, "old", "mine")
        await function.apply(new, STABLE, **TWO)
        await until_author_is(things, "new", "mine")

    with versions("old", "new") as addresses:
        await scenario(s, *addresses)


async def test_no_more_revisions_are_active_than_the_limit_and_the_oldest_rests_first(s):
    async def scenario(s, *addresses):
        function = Installed(s)
        for address, states in zip(
            addresses,
            (["Active"], ["Active", "Active"], ["Inactive", "Active", "Active"]),
            strict=True,
        ):
            await function.apply(address, **TWO)
            await function.until_states(*states)
        await function.apply(addresses[-1], revisionHistoryLimit=4, activeRevisionLimit=1)
        await function.until_states("Inactive", "Inactive", "Active")
        await function.apply(addresses[-1], revisionHistoryLimit=4, activeRevisionLimit=3)
        await function.until_states("Active", "Active", "Active")

    with versions("one", "two", "three") as addresses:
        await scenario(s, *addresses)


@pytest.fixture
def without_rollout(tmp_path_factory):
    """How to reach a control plane of the older kind."""
    directory = tmp_path_factory.mktemp("without-rollout")
    flags = ("up", "--in-memory", "--data", str(directory), "--enable-controlled-rollout=false")
    with running(directory, *flags):
        yield load_config(str(directory / "kubeconfig"))


@pytest.mark.embedded_only("it is about a flag")
async def test_without_the_feature_one_revision_is_active_and_steps_get_that_one(without_rollout):
    async def scenario(s, old, new):
        function, things = Installed(s), await Things.defined(s)
        await function.apply(old, STABLE, **TWO)
        [first] = await function.until_states("Active")
        await things.compose(function.step(functionRevisionRef={"name": first["metadata"]["name"]}))
        await things.apply("mine")
        await until_author_is(things, "old", "mine")
        await function.apply(new, ALPHA, **TWO)
        await function.until_states("Inactive", "Active")
        await until_author_is(things, "new", "mine")

    with versions("old", "new") as addresses:
        async with Client(without_rollout) as client, asyncio.timeout(PATIENCE):
            await scenario(await Scenario.begin(client, "older"), *addresses)


async def test_a_new_version_is_planned_for_the_xrs_that_would_call_it(s, tmp_path):
    async def scenario(s, old, new):
        function, things = Installed(s), await Things.defined(s)
        await function.apply(old)
        await function.until_states("Active")
        await things.compose(function.step())
        await things.apply("mine")
        await until_author_is(things, "old", "mine")
        planned = await Plans(s, tmp_path).of(function.body(new), things.body("mine"))
        [config_map_node] = [node for node in planned.nodes() if node["kind"] == "ConfigMap"]
        assert config_map_node["fields"] == [{"path": "data.by", "before": "old", "after": "new"}]
        assert await function.states() == ["Active"]

    with versions("old", "new") as addresses:
        await scenario(s, *addresses)


async def test_the_limit_is_within_the_history_and_only_functions_have_one(s):
    function = Installed(s)
    message = "activeRevisionLimit must not be greater than revisionHistoryLimit"
    with pytest.raises(Invalid, match=message):
        await function.apply("localhost:1", activeRevisionLimit=2)
    await function.apply("localhost:1", revisionHistoryLimit=0, activeRevisionLimit=2)
    configuration = FUNCTION._replace(kind="Configuration", plural="configurations")
    body = {
        "apiVersion": configuration.api_version,
        "kind": "Configuration",
        "metadata": {"name": f"{s.id}-configuration"},
        "spec": {"package": "example.org/configuration:v1", "activeRevisionLimit": 2},
    }
    with pytest.raises(Invalid, match="only a Function can have more than one active revision"):
        await s.client.create(configuration, body)

"""Revisions of Compositions (reference: reconcile §3): numbers, names, labels, and their selection."""

from __future__ import annotations

import orjson
import pytest

from crossply.kinds.composition_revision import composition_hash
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP, condition
from tests.support.e2e.things import FAILED, READY, REVISION, Things, failing, message_of

pytestmark = pytest.mark.xdist_group("e2e")

VALID = condition("ValidPipeline", "True")


def saying(text, **fields):
    """A step that composes a ConfigMap with a text."""
    return resources(entry("one", base={"data": {"text": text}}, **fields))


async def revisions(s):
    """The revisions of the scenario's Composition by number."""
    listed = await s.client.list(REVISION, label_selector=f"crossplane.io/composition-name={s.id}")
    listed_revisions = [orjson.loads(data) for data in listed.items]
    return {obj["spec"]["revision"]: obj for obj in listed_revisions}


async def until_newest(s, number, text):
    """The newest revision, once it has a number; it must have this content."""

    async def newest_revision():
        by_number = await revisions(s)
        return by_number[number] if max(by_number, default=0) == number else None

    newest = await s.eventually(newest_revision)
    [step] = newest["spec"]["pipeline"]
    assert step["input"]["resources"][0]["base"]["data"]["text"] == text
    return newest


async def until_says(s, things, name, text):
    """Wait until the composed ConfigMap of an XR has this value."""
    xr = await things.until(name, lambda xr: things.references(xr))
    config_map_name = things.references(xr)[0]["name"]
    await s.until(CONFIG_MAP, config_map_name, lambda obj: obj["data"]["text"] == text)
    return await things.get(name)


async def test_every_state_of_a_composition_has_a_revision(s):
    """Named by the hash of labels, annotations and spec; controlled by the Composition."""

    things = Things(s)
    labels = {"channel": "fast"}
    composition = await things.compose(saying("a"), labels=labels, annotations={"note": "hi"})
    revision = await until_newest(s, 1, "a")
    digest = composition_hash(composition)
    assert revision["metadata"]["name"] == f"{s.id}-{digest[:7]}"
    assert revision["metadata"]["labels"] == {
        "crossplane.io/composition-name": s.id,
        "crossplane.io/composition-hash": digest[:63],
        "channel": "fast",
    }
    assert revision["metadata"]["annotations"] == {"note": "hi"}
    [owner] = revision["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (composition["metadata"]["uid"], True)
    await s.until(REVISION, revision["metadata"]["name"], VALID)


async def test_a_state_that_comes_back_has_the_same_revision_with_a_new_number(s):
    things = Things(s)
    await things.compose(saying("a"))
    first = await until_newest(s, 1, "a")
    await things.compose(saying("b"))
    second = await until_newest(s, 2, "b")
    await things.compose(saying("a"))
    third = await until_newest(s, 3, "a")
    assert third["metadata"]["uid"] == first["metadata"]["uid"]
    assert set(await revisions(s)) == {2, 3}
    assert second["metadata"]["uid"] != first["metadata"]["uid"]


async def test_other_labels_make_another_revision(s):
    things = Things(s)
    await things.compose(saying("a"), labels={"channel": "slow"})
    await until_newest(s, 1, "a")
    await things.compose(saying("a"), labels={"channel": "fast"})
    newest = await until_newest(s, 2, "a")
    assert newest["metadata"]["labels"]["channel"] == "fast"
    assert len(await revisions(s)) == 2


async def test_a_revision_that_lost_its_controller_gets_it_back(s):
    """As after a restore of a backup, where the Composition has a new identity."""

    things = Things(s)
    composition = await things.compose(saying("a"))
    name = (await until_newest(s, 1, "a"))["metadata"]["name"]
    await s.client.patch_merge(REVISION, name, {"metadata": {"ownerReferences": None}})
    await things.compose(saying("b"))
    await until_newest(s, 2, "b")
    owned = await s.until(REVISION, name, lambda obj: obj["metadata"].get("ownerReferences"))
    assert owned["metadata"]["ownerReferences"][0]["uid"] == composition["metadata"]["uid"]


async def test_revisions_go_with_their_composition(s):
    await Things(s).compose(saying("a"))
    name = (await until_newest(s, 1, "a"))["metadata"]["name"]
    await s.client.delete(COMPOSITION, s.id)
    await s.until_gone(REVISION, name)


async def test_an_automatic_xr_follows_every_revision(s):
    things = await Things.defined(s)
    await things.compose(saying("a"))
    await things.apply("mine")
    await until_says(s, things, "mine", "a")
    for text in ("b", "a", "c"):
        await things.compose(saying(text))
        await until_says(s, things, "mine", text)
    newest = await until_newest(s, 4, "c")
    xr = await things.until("mine", READY)
    assert things.of_engine(xr)["compositionRevisionRef"] == {"name": newest["metadata"]["name"]}


async def test_a_manual_xr_stays_with_its_revision_until_it_gets_another(s):
    things = await Things.defined(s)
    await things.compose(saying("a"))
    await things.apply("manual", things.engine_spec(compositionUpdatePolicy="Manual"))
    await things.apply("automatic")
    first = await until_says(s, things, "manual", "a")
    await until_says(s, things, "automatic", "a")
    await things.compose(saying("b"))
    # Once the other one has followed, this one had its chance to do so.
    await until_says(s, things, "automatic", "b")
    pinned_xr = await until_says(s, things, "manual", "a")
    pinned = things.of_engine(first)["compositionRevisionRef"]
    assert things.of_engine(pinned_xr)["compositionRevisionRef"] == pinned
    newest = {"name": (await until_newest(s, 2, "b"))["metadata"]["name"]}
    await things.change("manual", {"spec": {"crossplane": {"compositionRevisionRef": newest}}})
    await until_says(s, things, "manual", "b")


async def test_a_manual_xr_keeps_its_revision_when_the_composition_is_another(s):
    """Measured on Crossplane (reconcile §18): the reference to the revision counts."""

    things = await Things.defined(s)
    await things.compose(saying("a"))
    await things.apply("mine", things.engine_spec(compositionUpdatePolicy="Manual"))
    await until_says(s, things, "mine", "a")
    await things.compose(saying("b"), name=f"{s.id}-other")
    other = {"compositionRef": {"name": f"{s.id}-other"}}
    await things.change("mine", {"spec": {"crossplane": other}})
    xr = await things.until("mine", READY, lambda xr: things.of_engine(xr)["compositionRef"]["name"] != s.id)
    assert things.of_engine(xr)["compositionRevisionRef"]["name"].startswith(f"{s.id}-")
    assert not things.of_engine(xr)["compositionRevisionRef"]["name"].startswith(f"{s.id}-other")


async def test_a_revision_selector_picks_the_newest_of_those_with_its_labels(s):
    things = await Things.defined(s)
    await things.compose(saying("a"), labels={"channel": "slow"})
    await until_newest(s, 1, "a")
    await things.compose(saying("b"), labels={"channel": "fast"})
    await until_newest(s, 2, "b")
    slow = {"compositionRevisionSelector": {"matchLabels": {"channel": "slow"}}}
    await things.apply("mine", things.engine_spec(compositionUpdatePolicy="Automatic", **slow))
    await until_says(s, things, "mine", "a")
    await things.compose(saying("c"), labels={"channel": "slow"})
    await until_says(s, things, "mine", "c")
    none = {"compositionRevisionSelector": {"matchLabels": {"channel": "none"}}}
    await things.apply("lost", things.engine_spec(compositionUpdatePolicy="Automatic", **none))
    await things.until("lost", failing("no compatible CompositionRevisions found"))


async def test_the_definition_may_give_the_revision_selector(s):
    selector = {"matchLabels": {"channel": "slow"}}
    things = await Things.defined(
        s, defaultCompositionRevisionSelector=selector, defaultCompositionUpdatePolicy="Automatic"
    )
    await things.compose(saying("a"), labels={"channel": "slow"})
    await until_newest(s, 1, "a")
    await things.compose(saying("b"), labels={"channel": "fast"})
    await until_newest(s, 2, "b")
    await things.apply("mine", things.engine_spec(compositionUpdatePolicy="Automatic"))
    await until_says(s, things, "mine", "a")


async def test_the_definition_may_make_the_manual_policy_the_default(s):
    things = await Things.defined(s, "LegacyCluster", defaultCompositionUpdatePolicy="Manual")
    placed = {"metadata": {"namespace": s.id}, "data": {"text": "a"}}
    await things.compose(resources(entry("one", base=placed)))
    await things.apply("mine")
    xr = await things.until("mine", READY)
    assert xr["spec"]["compositionUpdatePolicy"] == "Manual"


def unreadable(things, name):
    """A Composition that the API server accepts but no controller can read: no duration is that long."""
    container = {"image": "example.org/fn:v1", "timeout": "9999999h"}
    return {
        "apiVersion": COMPOSITION.api_version,
        "kind": COMPOSITION.kind,
        "metadata": {"name": name},
        "spec": {
            "compositeTypeRef": {"apiVersion": things.kind.api_version, "kind": things.kind.kind},
            "functions": [{"name": "a", "type": "Container", "container": container}],
        },
    }


UNREADABLE = 'spec.functions[0].container.timeout: time: invalid duration "9999999h"'


async def test_an_unreadable_composition_fails_only_its_users(s):
    things, others = await Things.defined(s), await Things.defined(s, kind="Other")
    bad = await s.client.create(COMPOSITION, unreadable(things, f"{s.id}-bad"), "test")
    revision = f"{s.id}-bad-{composition_hash(bad)[:7]}"
    await s.until(REVISION, revision, condition("ValidPipeline", "False", "UnreadablePipeline"))
    await things.apply("user")
    user = await things.until("user", FAILED)
    assert message_of(user) == (
        f"selected CompositionRevision {revision} does not have a valid function pipeline: {UNREADABLE}"
    )
    await others.compose(saying("fine"), name=f"{s.id}-other")
    await others.apply("bystander")
    await others.until("bystander", READY)
    assert ("Warning", "ReadComposition", UNREADABLE) in await s.events(bad)


async def test_a_repaired_composition_is_used(s):
    things = await Things.defined(s)
    await s.client.create(COMPOSITION, unreadable(things, s.id), "test")
    await things.apply("mine")
    await things.until("mine", FAILED)
    mended = {"mode": "Pipeline", "pipeline": [saying("mended")], "functions": None}
    await s.client.patch_merge(COMPOSITION, s.id, {"spec": mended})
    await until_newest(s, 2, "mended")
    await until_says(s, things, "mine", "mended")

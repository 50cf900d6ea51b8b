"""Watches (reference: reconcile §13): exactly the objects that an XR was composed from are watched."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from crossply.compose.function_messages import Requirements, ResourceRef, ResourceSelector
from tests.support.e2e.pipelines import calling, served
from tests.support.e2e.scenario import CONFIG_MAP, CRD
from tests.support.e2e.things import READY, SYNCED, Things, config_map, custom_kind, desiring, failing

pytestmark = pytest.mark.xdist_group("e2e")


class Reader:
    """A function that composes what it reads: the words of the objects that it requires."""

    def __init__(self, **selectors):
        self.selectors = selectors
        self.calls = Counter()
        """How often it was called for which XR."""

    def __call__(self, request):
        self.calls[request.observed.composite.object["metadata"]["name"]] += 1
        selectors = {
            name: selector._replace(namespace=request.observed.composite.object["metadata"]["namespace"])
            for name, selector in self.selectors.items()
        }
        matches = [match for name in selectors for match in request.required_resources.get(name, ())]
        words = sorted(match.object["data"]["word"] for match in matches)
        answer = desiring(request, one=config_map(data={"words": " ".join(words)}))
        return answer._replace(requirements=Requirements(selectors))


BY_NAME = ResourceSelector("v1", "ConfigMap", match_name="word")
BY_LABEL = ResourceSelector("v1", "ConfigMap", match_labels={"kind-of": "word"})


async def word(s, name, text, **labels):
    """An object to be read."""
    metadata = {"name": name, "namespace": s.id, "labels": labels}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"word": text}}
    await s.client.apply(CONFIG_MAP, body, "somebody")


async def reading(s, address):
    """An XR that reads; the things, and the name of what it composes."""
    things = await Things.defined(s)
    await things.compose(await calling(s, address))
    await things.apply("mine")
    xr = await things.until("mine", SYNCED, READY)
    return things, things.references(xr)[0]["name"]


async def until_words(s, name, words):
    """Wait until these words were composed."""
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"words": words})


async def test_a_required_object_that_appears_changes_or_goes_is_composed_at_once(s):
    """Better than Crossplane 2.3, which looks again after the function's time to live (reconcile §18)."""

    with served(Reader(word=BY_NAME)) as address:
        _, name = await reading(s, address)
        await until_words(s, name, "")
        await word(s, "word", "hello")
        await until_words(s, name, "hello")
        await word(s, "word", "bye")
        await until_words(s, name, "bye")
        await s.client.delete(CONFIG_MAP, "word", s.id)
        await until_words(s, name, "")


async def test_objects_required_by_label_are_followed_as_they_gain_and_lose_it(s):
    with served(Reader(words=BY_LABEL)) as address:
        await word(s, "a", "a", **{"kind-of": "word"})
        await word(s, "b", "b")
        _, name = await reading(s, address)
        await until_words(s, name, "a")
        await word(s, "b", "b", **{"kind-of": "word"})
        await until_words(s, name, "a b")
        await word(s, "a", "a")
        await until_words(s, name, "b")


async def test_a_kind_that_is_installed_later_is_read_then(s):
    reader = Reader()
    with served(reader) as address:
        reader.selectors["late"] = ResourceSelector(f"{s.group}/v1", "Bucket", match_labels={"a": "b"})
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await things.until("mine", lambda xr: "Bucket" in str(xr["status"]))
        buckets = await custom_kind(s)
        await things.until("mine", SYNCED, READY)
        metadata = {"name": "one", "namespace": s.id, "labels": {"a": "b"}}
        body = {"apiVersion": buckets.api_version, "kind": "Bucket", "metadata": metadata, "spec": {}}
        calls = reader.calls["mine"]
        reader.selectors.clear()
        await s.client.create(buckets, body)

        async def called():
            return reader.calls["mine"] > calls

        await s.eventually(called)


async def test_an_object_that_is_not_required_enqueues_nothing(s):
    reader = Reader(word=BY_NAME)
    with served(reader) as address:
        _, name = await reading(s, address)
        await until_words(s, name, "")
        calls = reader.calls["mine"]
        for number in range(5):
            await word(s, "unrelated", str(number), **{"kind-of": "noise"})
        # What is required arrives after all that, in the same watch.
        await word(s, "word", "hello")
        await until_words(s, name, "hello")
        # One call finds it, and one more settles what changed with it.
        assert reader.calls["mine"] - calls <= 3


async def settled(reader):
    """How often the function was called for the XR, once it is not called any more."""
    calls = -1
    while calls != reader.calls["mine"]:
        calls = reader.calls["mine"]
        await asyncio.sleep(0.7)
    return calls


async def test_a_resource_no_longer_required_is_no_longer_watched(s):
    reader = Reader(word=BY_NAME)
    with served(reader) as address:
        things, name = await reading(s, address)
        await word(s, "word", "hello")
        await until_words(s, name, "hello")
        reader.selectors.clear()
        await things.apply("mine", {"mode": "again"})
        await until_words(s, name, "")
        calls = await settled(reader)
        # No XR reads it now: the creation of another XR shows that there was time to handle the change.
        await word(s, "word", "bye")
        await things.apply("other")
        await things.until("other", READY)
        assert reader.calls["mine"] == calls


async def test_input_that_a_step_refers_to_is_read_and_followed(s):
    def function(request):
        return desiring(request, one=config_map(data={"words": request.input["data"]["word"]}))

    with served(function) as address:
        things = await Things.defined(s)
        ref = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": s.id, "name": "input"}
        await things.compose(await calling(s, address, inputRef=ref))
        await things.apply("mine")
        await things.until("mine", lambda xr: "cannot get input" in str(xr["status"]))
        await word(s, "input", "hello")
        xr = await things.until("mine", SYNCED, READY)
        name = things.references(xr)[0]["name"]
        await until_words(s, name, "hello")
        await word(s, "input", "bye")
        await until_words(s, name, "bye")


class Watcher:
    """A function that counts how often it was called, and wants other resources watched."""

    def __init__(self):
        self.home = ""
        self.refs = ()
        self.calls = 0

    def watch(self, namespace, *refs):
        """Begin to watch these, and compose into a namespace."""
        self.home, self.refs = namespace, refs

    def __call__(self, request):
        self.calls += 1
        answer = desiring(request, one=config_map(metadata={"namespace": self.home}))
        return answer._replace(requirements=Requirements(watch_resources=self.refs))


def watched_refs(xr):
    """The objects listed in the status of an XR are watched for it."""
    return xr["status"].get("watchedResourceRefs")


@pytest.mark.parametrize("scope", ["Namespaced", "LegacyCluster"])
async def test_a_resource_that_a_function_watches_recomposes_the_xr_and_is_in_its_status(s, scope):
    """Seed 4, Q7: by name, without being sent to the function, in `status.watchedResourceRefs`."""
    watcher = Watcher()

    with served(watcher) as address:
        watcher.watch(s.id, ResourceRef("v1", "ConfigMap", "word", s.id))
        things = await Things.defined(s, scope)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "word", "namespace": s.id}]
        await things.until("mine", SYNCED, READY, lambda xr: watched_refs(xr) == refs)
        for change in ("appears", "changes"):
            before = await settled_calls(watcher)
            await word(s, "word", change)
            await s.eventually(lambda before=before: _is(watcher.calls > before))
        before = await settled_calls(watcher)
        await s.client.delete(CONFIG_MAP, "word", s.id)
        await s.eventually(lambda: _is(watcher.calls > before))
        watcher.watch(s.id)
        await things.apply("mine", {"size": "2"})
        await things.until("mine", SYNCED, lambda xr: watched_refs(xr) is None)
        before = await settled_calls(watcher)
        await word(s, "word", "nobody cares")
        assert await settled_calls(watcher) == before


async def settled_calls(watcher):
    """How often the function was called, once it is not called any more."""
    calls = -1
    while calls != watcher.calls:
        calls = watcher.calls
        await asyncio.sleep(0.7)
    return calls


async def _is(value):
    return value


async def test_a_watched_kind_may_be_installed_later(s):
    watcher = Watcher()

    with served(watcher) as address:
        watcher.watch(s.id, ResourceRef(f"{s.group}/v1", "Bucket", "one", s.id))
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await things.until("mine", SYNCED, READY, watched_refs)
        buckets = await custom_kind(s)
        # The kind was unknown when the function was last called.
        before = await settled_calls(watcher)
        metadata = {"name": "one", "namespace": s.id}
        body = {"apiVersion": buckets.api_version, "kind": "Bucket", "metadata": metadata, "spec": {}}
        await s.client.create(buckets, body)
        await s.eventually(lambda: _is(watcher.calls > before))


async def test_a_kind_whose_functions_watch_nothing_keeps_the_crd_of_its_definition(s):
    things = await Things.defined(s)
    crd = await s.client.get(CRD, things.kind.resource)
    assert "watchedResourceRefs" not in str(crd["spec"])


async def test_a_step_limits_the_watches_of_its_function(s):
    watcher = Watcher()

    with served(watcher) as address:
        watcher.watch(s.id, ResourceRef("v1", "ConfigMap", "word-1", s.id))
        things = await Things.defined(s)
        rules = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "word-.*"}]
        await things.compose(await calling(s, address, allowedExtraResources=rules))
        await things.apply("mine")
        await things.until("mine", SYNCED, READY, watched_refs)
        watcher.watch(s.id, ResourceRef("v1", "ConfigMap", "other", s.id))
        await things.apply("mine", {"size": "2"})
        message = 'step "tell" does not allow its function to watch ConfigMap (v1) "other"'
        await things.until("mine", failing(message))

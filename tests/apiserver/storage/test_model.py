"""The store against a plain dict, through random writes, compactions, restarts and looks into the past."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from crossply.apiserver.storage import Changed, Compacted, Event, Exists, Key, Store, sort_key
from tests.support.apiserver.stored_objects import encoder

RESOURCES = ["configmaps", "widgets.example.org"]
keys = st.tuples(
    st.sampled_from(RESOURCES),
    st.sampled_from(["", "team", "team-a"]),
    st.sampled_from(["a", "a-b", "a.b", "b"]),
)
contents = st.integers(0, 9)
Objects = dict[Key, tuple[int, bytes]]


class StoreBesideDict(RuleBasedStateMachine):
    """`states` is what the store should hold at each revision."""

    def __init__(self) -> None:
        super().__init__()
        self.directory: str | None = None
        self.runner = asyncio.Runner()
        self.objects: Objects = {}
        self.states: dict[int, Objects] = {1: {}}
        self.events: list[Event] = []

    @initialize(on_disk=st.booleans())
    def open(self, on_disk: bool) -> None:
        self.directory = tempfile.mkdtemp() if on_disk else None
        self._open()

    def _open(self) -> None:
        self.store = self.runner.run(Store.open(self.directory))
        for resource in RESOURCES:
            self.store.subscribe(resource, self.events.append)

    def teardown(self) -> None:
        self.runner.run(self.store.close())
        self.runner.close()
        if self.directory:
            shutil.rmtree(self.directory)

    async def attempt(self, operation: str, key: Key, stale: int, content: Any) -> None:
        """One write, compared with the model."""
        expected = self.objects.get(key)
        revision = (expected[0] if expected else 1) - stale
        if operation == "create":
            if expected:
                with pytest.raises(Exists):
                    await self.store.write(key, None, encoder(content))
                return
            write = self.store.write(key, None, self._noting(key, content))
        elif not expected or stale:
            with pytest.raises(Changed):
                await self.store.write(key, revision, encoder(content))
            return
        elif operation == "update":
            write = self.store.write(key, revision, self._noting(key, content))
        else:
            write = self.store.delete(key, revision, self._noting(key, None, deleted=True))
        entry = await write
        assert entry.key == key

    def _noting(self, key: Key, content: Any, deleted: bool = False) -> Any:
        """An encoder that carries the model along: it is called when the order of writes is settled."""

        def encode(revision: int) -> bytes:
            data = encoder(content)(revision)
            if deleted:
                del self.objects[key]
            else:
                self.objects[key] = (revision, data)
            self.states[revision] = dict(self.objects)
            return data

        return encode

    writes = st.tuples(
        st.sampled_from(["create", "create", "update", "delete"]),
        keys,
        st.sampled_from([0, 0, 0, 1]),
        contents,
    )

    @rule(writes=st.lists(writes, min_size=1, max_size=8))
    def write_at_once(self, writes: list[tuple[str, Key, int, Any]]) -> None:
        async def all_together() -> None:
            await asyncio.gather(*[self.attempt(*write) for write in writes])

        self.runner.run(all_together())

    @rule(part=st.floats(0, 1))
    def compact(self, part: float) -> None:
        cutoff = self.store.compacted + int((self.store.revision - self.store.compacted) * part)
        self.runner.run(self.store.compact(cutoff))

    @rule()
    def restart(self) -> None:
        if self.directory:
            before = (self.store.revision, self.store.compacted)
            self.runner.run(self.store.close())
            self._open()
            assert (self.store.revision, self.store.compacted) == before

    @rule(resource=st.sampled_from(RESOURCES), namespace=st.sampled_from(["", "team"]), part=st.floats(0, 1))
    def look_back(self, resource: str, namespace: str, part: float) -> None:
        revision = int(self.store.revision * part)
        if revision < self.store.compacted:
            with pytest.raises(Compacted):
                self.store.list_at(resource, namespace, revision)
            return
        result = {
            entry.key: (entry.revision, entry.data)
            for entry in self.store.list_at(resource, namespace, revision)
        }
        state = self.states[max(revision, 1)]
        assert result == {
            key: value for key, value in state.items() if key[0] == resource and namespace in ("", key[1])
        }

    @invariant()
    def shows_the_present(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.store.revision == max(self.states)
        for resource in RESOURCES:
            listed = self.store.list(resource)
            assert [entry.key for entry in listed] == sorted(
                (key for key in self.objects if key[0] == resource), key=sort_key
            )
            assert self.store.count(resource) == len(listed)
            assert all((entry.revision, entry.data) == self.objects[entry.key] for entry in listed)
            assert all(self.store.get(entry.key) == self.store.latest(entry.key) == entry for entry in listed)

    @invariant()
    def events_are_complete(self) -> None:
        if not hasattr(self, "store"):
            return
        assert [event.revision for event in self.events] == sorted(set(self.states) - {1})
        remaining = [event for event in self.events if event.revision > self.store.compacted]
        for resource in RESOURCES:
            assert self.store.events(resource, self.store.compacted) == [
                event for event in remaining if event.key[0] == resource
            ]


TestStoreBesideDict = StoreBesideDict.TestCase
TestStoreBesideDict.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)

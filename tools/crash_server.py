"""Kill the whole API server again and again under load, and look whether it kept its word to its clients.

    python tools/crash_test.py --server --rounds 200 --writers 16

Each round starts the program on the same data, lets many clients create, change and delete ConfigMaps over
HTTPS while another one watches, and kills the server (SIGKILL) at a random moment. Afterwards, and over all
rounds:

- every acknowledged write is there, unless a later write was under way whose answer never came;
- resource versions never go back, and none is given twice;
- the watch, resumed where it broke, shows every acknowledged write exactly once and in order, and each event
  continues what was there before it;
- the database passes SQLite's integrity check.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import random
import ssl
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

import aiohttp

PATH = "/api/v1/namespaces/default/configmaps"
NAMES = 100
MARK = "mark"
CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")


class Broken(Exception):
    """A promise was not kept."""


class State(NamedTuple):
    """An object as a client knows it: its version, and which write made it so ("" when it was deleted)."""

    version: int
    write: str
    uid: str = ""


def require(condition: bool, otherwise: str) -> None:
    """A promise is kept, or the test ends."""
    if not condition:
        raise Broken(otherwise)


class Witness:
    """What clients were told, over all rounds."""

    def __init__(self) -> None:
        self.acknowledged: dict[int, tuple[str, State]] = {}
        self.newest: dict[str, State] = {}
        self.attempted: dict[str, set[str]] = {}
        """Writes by name whose answer may never have come."""
        self.deleted: set[str] = set()
        """The uids of objects whose deletion was acknowledged."""
        self.watched: dict[str, State] = {}
        """The objects as the watch alone tells them."""
        self.observed: set[int] = set()
        self.last_observed = 0
        self.highest = 0

    def answered(self, name: str, state: State) -> None:
        """A write was acknowledged."""
        require(state.version not in self.acknowledged, f"version {state.version} was given twice")
        self.acknowledged[state.version] = (name, state)
        self.newest[name] = max(state, self.newest.get(name, state))
        self.highest = max(self.highest, state.version)

    def watch_event(self, kind: str, obj: dict[str, Any]) -> None:
        """The watch told of a change."""
        name, state = name_of(obj), state_of(obj, kind)
        require(state.version > self.last_observed, f"the watch went back to {state.version}")
        before = self.watched.get(name)
        there = before is not None and before.write != ""
        require(there == (kind != "ADDED"), f"{kind} of {name} at {state.version} does not follow {before}")
        self.watched[name] = state
        self.observed.add(state.version)
        self.last_observed = state.version
        self.highest = max(self.highest, state.version)

    def check(self, listed: dict[str, State], version: int) -> None:
        """Compare what is stored with what was acknowledged."""
        require(version >= self.highest, f"the server is at {version}, but {self.highest} was seen")
        for name, known in self.newest.items():
            stored = listed.get(name, State(version, ""))
            if stored.write == known.write and (stored.version == known.version or not known.write):
                continue
            later = stored.version > known.version and stored.write in self.attempted.get(name, set())
            require(later, f"{name}: {known} was acknowledged, but {stored} is there")
        for name, stored in listed.items():
            require(stored.uid not in self.deleted, f"{name}: the deletion of {stored} was acknowledged")
            require(stored.write in self.attempted.get(name, set()), f"{name}: nobody wrote {stored}")

    def check_watch(self) -> None:
        """Every acknowledged write was seen, exactly as acknowledged."""
        missed = [version for version in self.acknowledged if version not in self.observed]
        require(not missed, f"the watch has never shown {missed[:5]}")
        for name, known in self.newest.items():
            watched = self.watched.get(name)
            require(watched is not None and watched >= known, f"{name}: watched {watched}, written {known}")


def name_of(obj: dict[str, Any]) -> str:
    """The object's name."""
    return str(obj["metadata"]["name"])


def state_of(obj: dict[str, Any], kind: str = "") -> State:
    """An object as clients compare it; a torn one is found here."""
    data = obj.get("data", {})
    write = data.get("write", "")
    require(data.get("again", "") == write, f"{obj['metadata']} is torn")
    metadata = obj["metadata"]
    return State(int(metadata["resourceVersion"]), "" if kind == "DELETED" else write, metadata["uid"])


class Client:
    """A client of one server's life."""

    def __init__(self, session: aiohttp.ClientSession, url: str, witness: Witness) -> None:
        self._session = session
        self._url = url + PATH
        self._witness = witness

    async def write_forever(self, chance: random.Random, label: str) -> None:
        """Create, change and delete objects that others want too, until the server is gone."""
        for number in range(1_000_000):
            name = f"m{chance.randrange(NAMES)}"
            write = f"{label}.{number}"
            filling = "x" * chance.choice([10, 1000, 3000, 20_000])
            try:
                await self.write(name, write, filling, delete=chance.random() < 0.25)
            except (TimeoutError, aiohttp.ClientError, OSError):
                return

    async def write(self, name: str, write: str, filling: str = "", *, delete: bool = False) -> None:
        """One write; what it does depends on what is there."""
        attempted = self._witness.attempted.setdefault(name, set())
        if delete:
            attempted.add("")
            async with self._session.delete(f"{self._url}/{name}") as response:
                answer = await response.json()
                if response.status == 200:
                    self._witness.deleted.add(answer["details"]["uid"])
            return
        body = {"metadata": {"name": name}, "data": {"write": write, "filling": filling, "again": write}}
        attempted.add(write)
        async with self._session.post(self._url, json=body) as response:
            if response.status == 409:
                async with self._session.put(f"{self._url}/{name}", json=body) as changed:
                    await self._note(name, changed)
            else:
                await self._note(name, response)

    async def _note(self, name: str, response: aiohttp.ClientResponse) -> None:
        obj = await response.json()
        if response.status in (200, 201):
            self._witness.answered(name, state_of(obj))
        else:
            require(response.status in (404, 409), f"{response.status}: {obj}")

    async def list(self) -> tuple[dict[str, State], int]:
        """All objects of the test, and the version of the list."""
        async with self._session.get(self._url) as response:
            page = await response.json()
        listed = {name_of(item): state_of(item) for item in page["items"] if "write" in item["data"]}
        return listed, int(page["metadata"]["resourceVersion"])

    async def watch(self) -> None:
        """Follow the objects from where the last watch broke, until the server is gone."""
        witness = self._witness
        query = {"watch": "1", "resourceVersion": str(witness.last_observed or 1)}
        with contextlib.suppress(aiohttp.ClientError, OSError):
            async with self._session.get(self._url, params=query, timeout=_FOREVER) as response:
                async for line in response.content:
                    event = json.loads(line)
                    require(event["type"] in ("ADDED", "MODIFIED", "DELETED"), f"the watch says {event}")
                    if "write" in event["object"].get("data", {}):
                        witness.watch_event(event["type"], event["object"])


_FOREVER = aiohttp.ClientTimeout(total=None)


async def run_round(directory: pathlib.Path, witness: Witness, writers: int, seed: int) -> None:
    """Start, check what is there, write, and kill."""
    chance = random.Random(seed)
    process, url = await start(directory)
    authority = ssl.create_default_context(cafile=str(directory / "pki" / "ca.crt"))
    headers = {"Authorization": f"Bearer {(directory / 'admin.token').read_text()}"}
    connector = aiohttp.TCPConnector(ssl=authority, limit=0)
    watching = None
    try:
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
            client = Client(session, url, witness)
            witness.check(*await client.list())
            watching = asyncio.create_task(client.watch())
            await client.write(MARK, f"mark.{seed}")
            await wait_for_watch(witness, watching)
            witness.check_watch()
            labels = [f"{seed}.{number}" for number in range(writers)]
            tasks = [client.write_forever(random.Random(label), label) for label in labels]
            killer = asyncio.get_running_loop().call_later(chance.uniform(0.02, 0.6), process.kill)
            await asyncio.gather(*tasks)
            killer.cancel()
            process.kill()
            await watching
    finally:
        process.kill()
        process.communicate()


async def wait_for_watch(witness: Witness, watching: asyncio.Task[None]) -> None:
    """Wait until the watch has shown all that was acknowledged."""
    newest = max(witness.acknowledged)
    while witness.last_observed < newest:
        if watching.done():
            await watching
            raise Broken("the watch ended")
        await asyncio.sleep(0.005)


async def start(directory: pathlib.Path) -> tuple[subprocess.Popen[str], str]:
    """Start the program; the result has its address."""
    command = [CROSSPLY, "apiserver", "--data", str(directory), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = await asyncio.to_thread(process.stdout.readline)
    require(line.startswith("ready: "), f"the server did not start: {line!r}")
    return process, line.removeprefix("ready: ").strip()


async def crash_servers(rounds: int, writers: int, seed: int) -> str:
    """All rounds on one directory; what was found."""
    from crash_test import check_integrity

    witness = Witness()
    with tempfile.TemporaryDirectory(prefix="crash-test-") as name:
        directory = pathlib.Path(name)
        for number in range(seed, seed + rounds):
            await run_round(directory, witness, writers, number)
        await run_round(directory, witness, 0, seed + rounds)
        check_integrity(os.path.join(name, "data"))
    return (
        f"{rounds} kills of the server, {writers} clients: {len(witness.acknowledged)} acknowledged writes "
        f"and {len(witness.deleted)} deletions all there, "
        f"{len(witness.observed)} watch events without a gap, "
        f"version {witness.highest}, integrity ok"
    )

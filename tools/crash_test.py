"""Kill the store again and again while it is written to, and look whether it kept its word.

    python tools/crash_test.py --rounds 200 --writers 16

With `--server` it is the whole API server that is killed, under clients over HTTPS (see `crash_server`).

Each round starts a process with many writers on the same data directory and kills it (SIGKILL) at a random
moment. What it had acknowledged, and what its watchers had seen, comes through a pipe. Afterwards:

- every acknowledged write is there, and so is everything that a watcher saw;
- revisions never go back, and none is given twice;
- the history has no holes and holds each event exactly as it was seen;
- the database passes SQLite's integrity check.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any, NamedTuple

from crossply.apiserver.storage import Changed, Event, Exists, HistoryLimits, Store

RESOURCE = "widgets.example.org"
LIMITS = HistoryLimits(events=3000)
"""Little history, so that rounds also end in the middle of a compaction."""
FIRST_REVISION = 1


class StoreChange(NamedTuple):
    """A change as a client saw it."""

    revision: int
    type: str
    name: str
    data: str


class Broken(Exception):
    """A promise was not kept."""


# The process that is killed.


async def work(directory: str, writers: int, seed: int) -> None:
    """Write until killed, and say over the pipe what was acknowledged ("A") and watched ("W")."""
    store = await Store.open(directory, limits=LIMITS)
    say("S", StoreChange(store.revision, "", "", ""))
    store.subscribe(RESOURCE, lambda event: say("W", change_of(event)))
    await asyncio.gather(
        *[write_forever(store, random.Random(seed * 1000 + number)) for number in range(writers)]
    )


async def write_forever(store: Store, chance: random.Random) -> None:
    """Create, change and delete objects that other writers want too."""
    while True:
        key = (RESOURCE, "default", f"w{chance.randrange(200)}")
        filling = "x" * chance.choice([10, 1000, 3000, 20_000])

        def encode(revision: int, filling: str = filling) -> bytes:
            return f'{{"rv":{revision},"filling":"{filling}"}}'.encode()

        current = store.latest(key)
        try:
            if current is None:
                entry, kind = await store.write(key, None, encode), "ADDED"
            elif chance.random() < 0.7:
                entry, kind = await store.write(key, current.revision, encode), "MODIFIED"
            else:
                entry, kind = await store.delete(key, current.revision, encode), "DELETED"
        except (Exists, Changed):
            continue
        say("A", StoreChange(entry.revision, kind, key[2], digest(entry.data)))


def say(mark: str, change: StoreChange) -> None:
    """Tell the parent. A line is short enough to be written whole or not at all."""
    os.write(1, (json.dumps([mark, *change]) + "\n").encode())


def change_of(event: Event) -> StoreChange:
    """An event as a client would note it."""
    return StoreChange(event.revision, event.type, event.key[2], digest(event.data))


def digest(data: bytes) -> str:
    """Enough to tell two states apart, and that a state is whole."""
    return f"{len(data)}:{data[:24].decode()}"


# The process that kills and checks.


def run_until_killed(directory: str, writers: int, seed: int) -> list[tuple[str, StoreChange]]:
    """Start the workers, kill them at a random moment, and return what they said."""
    command = [sys.executable, os.path.abspath(__file__), "--work", directory]
    command += ["--writers", str(writers), "--seed", str(seed)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    killer = kill_after(process, 60)
    lines = [process.stdout.readline()]  # it has opened the store
    killer.cancel()
    kill_after(process, random.Random(seed).uniform(0.0, 0.25))
    lines += process.stdout.readlines()
    if process.wait() != -signal.SIGKILL or not lines[0]:
        raise Broken("the worker ended by itself, or did not begin")
    return [parse_line(line) for line in lines if line.endswith(b"\n")]


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> threading.Timer:
    """Kill a process when the time has come."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    return timer


def parse_line(line: bytes) -> tuple[str, StoreChange]:
    """A line of the worker."""
    mark, *change = json.loads(line)
    return mark, StoreChange(*change)


class Witness:
    """Everything that clients ever saw, over all rounds."""

    def __init__(self) -> None:
        self.changes: dict[int, StoreChange] = {}
        self.newest: dict[str, StoreChange] = {}
        self.acknowledged = 0
        self.highest = 0

    def hear(self, lines: list[tuple[str, StoreChange]]) -> None:
        """Note what a worker said; a revision can mean one thing only."""
        before = self.highest
        for mark, change in lines:
            if mark == "S":
                require(change.revision >= before, f"revisions went back from {before} to {change.revision}")
                continue
            self.acknowledged += mark == "A"
            require(change.revision > before, f"revision {change.revision} was given twice")
            known = self.changes.setdefault(change.revision, change)
            require(known == change, f"revision {change.revision} is both {known} and {change}")
            self.highest = max(self.highest, change.revision)
            newest = self.newest.get(change.name)
            if newest is None or newest.revision < change.revision:
                self.newest[change.name] = change

    async def check(self, directory: str) -> int:
        """Compare with what is stored; the result is the number of events that were compared."""
        store = await Store.open(directory, limits=LIMITS)
        try:
            require(store.revision >= self.highest, f"at {store.revision}, but {self.highest} was seen")
            history = [change_of(event) for event in store.events(RESOURCE, store.compacted)]
            self._check_history(history, store.compacted)
            self._check_objects(store, {event.name: event for event in history})
            self.highest = store.revision
        finally:
            await store.close()
        check_integrity(directory)
        return len(history)

    def _check_history(self, history: list[StoreChange], compacted: int) -> None:
        first = max(compacted, FIRST_REVISION) + 1
        complete = list(range(first, first + len(history)))
        require([event.revision for event in history] == complete, "the history has a hole")
        stored = {event.revision: event for event in history}
        for revision, change in self.changes.items():
            if revision > compacted:
                require(stored.get(revision) == change, f"{change} became {stored.get(revision)}")

    def _check_objects(self, store: Store, last_events: dict[str, StoreChange]) -> None:
        for name, change in self.newest.items():
            expected = max(change, last_events.get(name, change))
            entry = store.get((RESOURCE, "default", name))
            if expected.type == "DELETED":
                require(entry is None, f"{name} was deleted, but is there: {entry}")
            else:
                require(entry is not None, f"{expected} was acknowledged, but is gone")
                require(entry is None or digest(entry.data) == expected.data, f"{expected} became {entry}")


def require(condition: bool, otherwise: str) -> None:
    """A promise is kept, or the test ends."""
    if not condition:
        raise Broken(otherwise)


def check_integrity(directory: str) -> None:
    """Ask SQLite itself."""
    import apsw

    connection: Any = apsw.Connection(
        os.path.join(directory, "crossply.db"), flags=apsw.SQLITE_OPEN_READWRITE
    )
    finding = connection.pragma("integrity_check")
    connection.close()
    require(finding == "ok", f"integrity check: {finding}")


def crash(rounds: int, writers: int, seed: int) -> None:
    """All rounds on one directory."""
    witness = Witness()
    events = 0
    with tempfile.TemporaryDirectory(prefix="crash-test-") as directory:
        for number in range(seed, seed + rounds):
            witness.hear(run_until_killed(directory, writers, number))
            events += asyncio.run(witness.check(directory))
    sys.stdout.write(
        f"{rounds} rounds, {writers} writers: {witness.acknowledged} acknowledged writes all there, "
        f"{events} events compared, revision {witness.highest}, integrity ok\n"
    )


def _crash_servers(rounds: int, writers: int, seed: int) -> None:
    import crash_server

    try:
        sys.stdout.write(asyncio.run(crash_server.crash_servers(rounds, writers, seed)) + "\n")
    except crash_server.Broken as error:
        raise Broken(str(error)) from error


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--server", action="store_true", help="kill the API server, not the store alone")
    parser.add_argument("--work", metavar="DIRECTORY", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        asyncio.run(work(arguments.work, arguments.writers, arguments.seed))
        return
    try:
        if arguments.server:
            _crash_servers(arguments.rounds, arguments.writers, arguments.seed)
        else:
            crash(arguments.rounds, arguments.writers, arguments.seed)
    except Broken as error:
        sys.exit(f"BROKEN (--seed {arguments.seed}): {error}")


if __name__ == "__main__":
    main()

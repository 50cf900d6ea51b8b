"""Make everything below the API server's store fail, and look whether it kept its word.

    python tools/store_faults.py 300            for five minutes
    python tools/store_faults.py --quick        a sample of each with a fixed seed, as `make test` does

- calls: each system call of the store fails in turn, once or from then on
- kills: the process is killed at each of its system calls
- memory: SQLite or the process gets no more memory for a while
- damage: the files are damaged between two starts (see `store_damage`)

During the first three, a store is opened, written to, compacted, moved by a checkpoint, backed up, closed and
restored. Each answer is an error of the store or a success; after a start without faults, every acknowledged
write is there, and nothing that was never tried. strace makes system calls fail; Debian has a package of it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import store_damage
from hurt_process import CannotTrace, Ending, run_hurt
from store_memory import choose_shortage, play_short_of_memory
from store_scenario import Broken, Ledger, places, play

ERRORS = {
    "openat": ("EIO", "EMFILE"),
    "pread64": ("EIO",),
    "pwrite64": ("EIO", "ENOSPC"),
    "write": ("EIO", "ENOSPC"),
    "fsync": ("EIO",),
    "fdatasync": ("EIO", "ENOSPC"),
    "ftruncate": ("EIO",),
    "rename": ("EIO", "ENOSPC"),
    "unlink": ("EIO",),
    "unlinkat": ("EIO",),
    "mkdir": ("EIO", "ENOSPC"),
    "newfstatat": ("EIO",),
    "fcntl": ("EIO",),
}
"""The system calls that fail, and how. The store maps no files: mmap gets memory, see `store_memory`."""
DEADLY = (
    "openat",
    "pwrite64",
    "write",
    "fsync",
    "fdatasync",
    "ftruncate",
    "rename",
    "unlink",
    "unlinkat",
    "mkdir",
)
"""The system calls at which the process is killed."""

EXIT_CANNOT_TRACE = 77


class Injection(NamedTuple):
    """What happens at the n-th use of a system call by a thread."""

    call: str
    effect: str
    when: int
    lasting: bool = False

    def tracing(self) -> list[str]:
        occurrence = f"{self.when}+" if self.lasting else self.when
        return ["-e", f"trace={self.call}", "-e", f"inject={self.call}:{self.effect}:when={occurrence}"]


class Start(NamedTuple):
    """The data directory that a trial begins with (None: a new one), and what is in it."""

    name: str
    directory: str | None
    ledger: Ledger


class Results:
    """Counts, and what was broken."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []

    def complain(self, text: str) -> None:
        self.broken.append(text)
        print("BROKEN", text, flush=True)


class Trials:
    """Runs trials one after the other, each in a directory of its own."""

    def __init__(self, place: str, results: Results) -> None:
        self._place = place
        self._results = results
        self._numbers = itertools.count()

    def starts(self) -> list[Start]:
        """A new directory, and one that a killed process left with writes in the write-ahead log alone."""
        directory = os.path.join(self._place, "killed")
        ledger = Ledger()

        def hear(message: list[Any]) -> None:
            ledger.hear(message)
            if message[0] == "acknowledged" and message[1] == "at-last":
                raise StopIteration

        try:
            run_hurt(lambda report: play(directory, report), hear, "", [])
        except StopIteration:
            return [Start("new", None, Ledger()), Start("killed", directory, ledger)]
        raise Broken("the store did not live as long as it should")

    def count_calls(self) -> Counter[str]:
        """How often the store makes each system call when nothing fails."""
        return self._run(
            Start("new", None, Ledger()), play, ["-e", f"trace={','.join(ERRORS)}"], "counting"
        ).calls

    def inject(self, start: Start, injection: Injection) -> bool:
        """Whether the injection hit anything."""
        kind = "kills" if injection.effect.startswith("signal") else "calls"
        ending = self._run(start, play, injection.tracing(), f"{kind} {start.name} {injection}")
        hit = ending.killed or ending.hits > 0
        self._results.counts[kind] += hit
        return hit

    def run_short(self, start: Start, chance: random.Random) -> None:
        shortage = choose_shortage(chance)
        self._run(
            start,
            lambda directory, report: play_short_of_memory(directory, report, shortage),
            [],
            f"memory {start.name} {shortage}",
        )
        self._results.counts["memory"] += 1

    def _run(self, start: Start, work: Callable[..., Any], tracing: list[str], description: str) -> Ending:
        base = os.path.join(self._place, str(next(self._numbers)))
        os.mkdir(base)
        directory = os.path.join(base, "data")
        if start.directory is not None:
            shutil.copytree(start.directory, directory)
        ledger = Ledger(start.ledger)
        ending = Ending(False, False, 1, Counter())
        try:
            ending = run_hurt(
                lambda report: work(directory, report), ledger.hear, os.path.join(base, "strace"), tracing
            )
            if ending.hung:
                raise Broken(f"it hangs after {ledger.steps}")
            ledger.check(directory)
        except CannotTrace:
            raise
        except Exception as error:  # noqa: BLE001 - any error in the check is a promise that was not kept
            self._results.complain(f"{description}: {error!r} {places(error)} refused: {ledger.refused}")
        self._results.counts["refused"] += len(ledger.refused)
        shutil.rmtree(base)
        return ending


def all_injections(start: Start, lasting: bool) -> Iterator[tuple[Injection, Start]]:
    """Endless for each call: whoever runs them goes on with the next call when one hits nothing."""
    for call, errors in ERRORS.items():
        for error in errors:
            yield Injection(call, f"error={error}", 1, lasting), start
    if not lasting:
        for call in DEADLY:
            yield Injection(call, "signal=KILL", 1), start


def run_for(seconds: float, trials: Trials, seed: int, results: Results) -> None:
    """Every fault in turn, and in between damage and shortages; these go on while there is time."""
    end = time.monotonic() + seconds
    starts = trials.starts()
    chance = random.Random(seed)
    series = [
        item for lasting in (False, True) for start in starts for item in all_injections(start, lasting)
    ]
    chance.shuffle(series)  # so that runs that are too short for all of them differ
    for number, (first, start) in enumerate(series):
        for call_number in itertools.count(1):
            if time.monotonic() > end:
                return
            if not trials.inject(start, first._replace(when=call_number)):
                break
        for _ in range(4):
            trials.run_short(chance.choice(starts), chance)
        damage(60, seed + number, results)
    while time.monotonic() < end:
        seed += 1
        for _ in range(20):
            trials.run_short(chance.choice(starts), chance)
        damage(200, seed, results)


def damage(trials: int, seed: int, results: Results) -> None:
    outcomes = asyncio.run(store_damage.damage(trials, seed, results.complain))
    results.counts["damages"] += trials
    results.counts["damages refused"] += trials - outcomes["served"] - outcomes["broken"]


def run_sample(only: str, trials: Trials, seed: int, results: Results) -> None:
    """A few of each, the same ones for the same seed."""
    chance = random.Random(seed)
    if only in ("", "damage"):
        damage(150, seed, results)
    if only == "damage":
        return
    starts = trials.starts()
    if only in ("", "memory"):
        for _ in range(20):
            trials.run_short(chance.choice(starts), chance)
    if only in ("", "calls", "kills"):
        counts = trials.count_calls()
        for kind, size in (("calls", 32), ("kills", 24)):
            if only in ("", kind):
                for injection in sample(chance, kind, counts, size):
                    trials.inject(chance.choice(starts), injection)


def sample(chance: random.Random, kind: str, counts: Counter[str], size: int) -> list[Injection]:
    """Injections spread over all system calls that the store makes."""
    calls = [call for call in (ERRORS if kind == "calls" else DEADLY) if counts[call]]
    injections = []
    for number in range(size):
        call = calls[number % len(calls)]
        effect = f"error={chance.choice(ERRORS[call])}" if kind == "calls" else "signal=KILL"
        lasting = kind == "calls" and chance.random() < 0.3
        injections.append(Injection(call, effect, chance.randint(1, counts[call]), lasting))
    return injections


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seconds", type=float, nargs="?", default=600)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument(
        "--quick", action="store_true", help="try a sample, with seed 1 unless another is given"
    )
    parser.add_argument("--only", choices=("calls", "kills", "memory", "damage"), default="")
    arguments = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory(prefix="store-faults-") as place:
        trials = Trials(place, results)
        try:
            if arguments.quick:
                run_sample(arguments.only, trials, arguments.seed, results)
            else:
                run_for(arguments.seconds, trials, arguments.seed, results)
        except CannotTrace as error:
            print(f"NOT TESTED WITH strace: {error}")
            return EXIT_CANNOT_TRACE
    counts = ", ".join(f"{count} {name}" for name, count in sorted(results.counts.items()))
    print(f"seed {arguments.seed}: {counts}; {len(results.broken)} broken")
    return 1 if results.broken else 0


if __name__ == "__main__":
    sys.exit(main())

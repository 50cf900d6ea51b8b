"""Feed random and mutated input to everything that reads what others wrote, and count what survives.

    python tools/fuzz.py 600                       all targets in turn for ten minutes
    python tools/fuzz.py 60 7 --only cel paths     some of them, with a seed
    python tools/fuzz.py --replay tests/fuzz_corpus

A target may refuse its input with a CrossplyError. Any other exception is a failure, and so is an input that
takes more than 20 s of processor time or 1 GiB of memory. Inputs that fail are printed and kept in
.cache/fuzz; when the cause is mended, they move to tests/fuzz_corpus, which `make test` replays.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from fuzzing import language_targets, package_targets, server_targets, value_targets
from fuzzing.bounded import Case, Target, run_cases

MODULES = (value_targets, package_targets, language_targets, server_targets)
TARGETS = {target[0]: Target(*target) for module in MODULES for target in module.targets()}
FAILURES = Path(".cache/fuzz")


def random_cases(names: list[str], seed: int, end: float, inputs: int, start: int) -> Iterator[Case]:
    """Inputs for each target in turn, until the time has come or each had so many."""
    for number in itertools.count(start):
        if time.monotonic() > end or number >= inputs * len(names):
            return
        target = TARGETS[names[number % len(names)]]
        name = f"{seed}/{number}"
        yield Case(target, name, lambda target=target, name=name: target.make(random.Random(name)))


def recorded_cases(directory: Path, names: list[str], start: int) -> Iterator[Case]:
    """Inputs that once failed."""
    for path in sorted(directory.glob("*.json"))[start:]:
        recorded = json.loads(path.read_text())
        if recorded["target"] in names:
            yield Case(TARGETS[recorded["target"]], path.name, lambda recorded=recorded: recorded["input"])


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seconds", type=float, nargs="?", default=600)
    parser.add_argument("seed", type=int, nargs="?", default=random.randrange(2**32))
    parser.add_argument("--only", nargs="+", metavar="TARGET", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="end after so many for each target")
    parser.add_argument("--replay", type=Path, metavar="DIRECTORY", help="run the inputs that are kept there")
    arguments = parser.parse_args()
    start = time.monotonic()
    if arguments.replay:
        cases = functools.partial(recorded_cases, arguments.replay, arguments.only)
        counts = run_cases(cases, None)
    else:
        end = start + arguments.seconds
        cases = functools.partial(random_cases, arguments.only, arguments.seed, end, arguments.inputs)
        counts = run_cases(cases, FAILURES)
    seconds = time.monotonic() - start
    inputs = f"{counts.begun:,} inputs for {len(arguments.only)} targets in {seconds:.0f} s"
    print(f"{inputs}, seed {arguments.seed}: {counts.refused:,} refused, {counts.failed} failed")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())

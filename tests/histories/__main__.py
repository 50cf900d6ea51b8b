"""`make soak`: faults on a real control plane under load, and a check of the whole history.

python -m tests.histories --seconds 600 --seed 7
python -m tests.histories --faults none --composites 1000 --seconds 1800
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile

from tests.histories.history import Violation
from tests.histories.schedule import Kind
from tests.histories.soak import Result, Settings, Soak


def main() -> int:
    settings = _settings()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix=f"crossply-soak-{settings.seed}-"))
    print(f"seed {settings.seed}, {settings.seconds:g} s, in {scratch}", flush=True)
    soak = Soak(settings, scratch)
    try:
        for fault in soak.plan():
            print(fault)
        result = asyncio.run(_run(soak))
    except (Violation, ExceptionGroup) as problem:
        _show_failure(soak, settings, problem)
        _keep(soak, settings, scratch)
        return 1
    finally:
        soak.close()
    _show_success(soak, settings, result)
    shutil.rmtree(scratch)
    return 0


async def _run(soak: Soak) -> Result:
    """Run, and end the processes also when we are to end."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await soak.run()


def _settings() -> Settings:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="how long load and faults last (600)")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(10**6), help="of the schedule and the load"
    )
    names = ", ".join(kind.name.lower() for kind in Kind)
    parser.add_argument("--faults", default="all", help=f"all, none, or some of: {names}")
    parser.add_argument("--composites", type=int, default=12, help="composite resources at any time (12)")
    arguments = parser.parse_args()
    return Settings(arguments.seed, arguments.seconds, _kinds(arguments.faults), arguments.composites)


def _kinds(text: str) -> tuple[Kind, ...]:
    if text in ("all", "none"):
        return tuple(Kind) if text == "all" else ()
    return tuple(Kind[name.strip().upper()] for name in text.split(","))


def _show_success(soak: Soak, settings: Settings, result: Result) -> None:
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(soak.injector.injected.items()))
    operations = len(soak.recorder.operations)
    print(f"seed {settings.seed}: no violation in {settings.seconds:g} s")
    print(f"  faults: {faults or 'none'}; {soak.plane.starts} starts of crossply up")
    outcomes = ", ".join(f"{count} {name}" for name, count in soak.recorder.outcomes.most_common())
    if result.checked.operations < operations:
        print(
            f"  CHECKED IN PART: the first {result.checked.operations} operations. Then the server dropped "
            "history on a full disk while no watcher was connected; try another seed"
        )
    print(f"  {operations} operations ({outcomes}); {result.checked.placed} placed in one order")
    print(
        f"  {result.checked.versions} versions, {result.checked.watch_events} watch events, "
        f"{result.checked.snapshots} lists; {result.settled} composite resources settled"
    )
    print(f"  memory: {soak.memory}", flush=True)


def _show_failure(soak: Soak, settings: Settings, problem: Exception) -> None:
    if isinstance(problem, ExceptionGroup):  # of tasks that ran beside each other
        for inner in problem.exceptions:
            _show_failure(soak, settings, inner)
        return
    print(f"\nVIOLATION with seed {settings.seed}: {problem!r}", file=sys.stderr)
    for part in getattr(problem, "piece", ()):
        print(f"  {part}", file=sys.stderr)
    print("the schedule was:", file=sys.stderr)
    for fault in soak.schedule:
        print(f"  {fault}", file=sys.stderr)


def _keep(soak: Soak, settings: Settings, scratch: pathlib.Path) -> None:
    """Keep the data directory, the log and the history beside each other."""
    soak.keep(scratch)
    with open(scratch / "history.txt", "w") as file:
        file.writelines(f"{operation}\n" for operation in soak.recorder.operations)
        for segment in soak.segments():
            file.write(f"{segment.watcher} from {segment.start}\n")
            file.writelines(f"  {event}\n" for event in segment.events)
    print(f"kept: {scratch} (data, up.log, history.txt)", file=sys.stderr)
    print(f"again: make soak SECONDS={settings.seconds:g} SEED={settings.seed}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).parents[2])
    sys.exit(main())

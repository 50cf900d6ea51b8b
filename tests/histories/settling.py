"""After the last fault everything comes to rest where an undisturbed control plane would."""

from __future__ import annotations

import asyncio
import pathlib
import subprocess
import time
from collections import Counter

from crossply.values.yaml import dump, read_stream
from tests.histories.composites import OWNER, PARTS, RESOURCE_NAME, STACKS, Composites, Object
from tests.histories.history import Violation
from tests.histories.plane import CROSSPLY

SETTLE_SECONDS = 120.0
QUIET_SECONDS = 8.0
_POLL_SECONDS = 0.5


async def check_settled(composites: Composites, scratch: pathlib.Path) -> int:
    """Every composite resource equals `crossply render`, and nothing is written. Returns their number."""
    await _until_right(composites, scratch)
    await _until_quiet(composites)
    stacks, _ = await composites.list(STACKS)
    return len(stacks)


async def check_removed(composites: Composites) -> None:
    """Nothing is left of composite resources that are deleted."""
    await composites.remove_all()
    end = time.monotonic() + SETTLE_SECONDS
    while True:
        stacks, _ = await composites.list(STACKS)
        parts, _ = await composites.list(f"{PARTS}?labelSelector={OWNER}")
        if not stacks and not parts:
            return
        if time.monotonic() > end:
            raise Violation(
                "crash-reconcile", "deleted composite resources left something", [*stacks, *parts]
            )
        await asyncio.sleep(_POLL_SECONDS)


async def _until_right(composites: Composites, scratch: pathlib.Path) -> None:
    end = time.monotonic() + SETTLE_SECONDS
    desired: dict[str, dict[str, Object]] = {}
    while True:
        stacks, _ = await composites.list(STACKS)
        parts, _ = await composites.list(f"{PARTS}?labelSelector={OWNER}")
        began = time.monotonic()
        for stack in stacks:
            name = stack["metadata"]["name"]
            if name not in desired and name in composites.alive:
                desired[name] = await asyncio.to_thread(rendered, scratch, composites, stack)
        end += time.monotonic() - began
        problems = wrong(composites, desired, stacks, parts)
        if not problems:
            return
        if time.monotonic() > end:
            raise Violation("crash-reconcile", "the control plane does not settle", problems)
        await asyncio.sleep(_POLL_SECONDS)


async def _until_quiet(composites: Composites) -> None:
    """The resourceVersion of a list counts all writes of the server."""
    end = time.monotonic() + SETTLE_SECONDS
    while True:
        _, before = await composites.list(PARTS)
        await asyncio.sleep(QUIET_SECONDS)
        _, after = await composites.list(PARTS)
        if before == after:
            return
        if time.monotonic() > end:
            raise Violation("quiet", f"still writing after {SETTLE_SECONDS:.0f} s", [f"{before} to {after}"])


def wrong(
    composites: Composites, desired: dict[str, dict[str, Object]], stacks: list[Object], parts: list[Object]
) -> list[str]:
    """What is not as it should be."""
    by_owner: dict[str, list[Object]] = {}
    for part in parts:
        by_owner.setdefault(part["metadata"]["labels"][OWNER], []).append(part)
    names = {stack["metadata"]["name"] for stack in stacks}
    problems = [f"{name} is missing" for name in composites.alive.keys() - names]
    problems += [f"{name} should be deleted" for name in names - composites.alive.keys()]
    problems += [f"nobody owns what is left of {name}" for name in by_owner.keys() - names]
    for stack in stacks:
        name = stack["metadata"]["name"]
        size, expected = stack["spec"].get("size"), composites.alive.get(name)
        if size != expected:
            problems.append(f"{name} has size {size}, but {expected} was acknowledged")
        problems += [f"{name} is not {kind}" for kind in ("Synced", "Ready") if not _is_true(stack, kind)]
        problems += _differences(name, desired.get(name, {}), by_owner.get(name, []))
    return problems


def _is_true(stack: Object, kind: str) -> bool:
    conditions = stack.get("status", {}).get("conditions", [])
    return any(condition["type"] == kind and condition["status"] == "True" for condition in conditions)


def _differences(name: str, desired: dict[str, Object], parts: list[Object]) -> list[str]:
    counts = Counter(part["metadata"]["annotations"][RESOURCE_NAME] for part in parts)
    if counts != Counter(desired.keys()):
        return [f"{name} has {sorted(counts.elements())}, not {sorted(desired)}"]
    live = {part["metadata"]["annotations"][RESOURCE_NAME]: part for part in parts}
    return [
        f"{name}: {part} is {_content(live[part])}, not {_content(expected)}"
        for part, expected in desired.items()
        if _content(live[part]) != _content(expected)
    ]


def _content(part: Object) -> tuple[str, object, object]:
    metadata = part["metadata"]
    return metadata["name"], part.get("data"), metadata["labels"].get("round")


def rendered(scratch: pathlib.Path, composites: Composites, stack: Object) -> dict[str, Object]:
    """The composed resources that `crossply render` shows, by name."""
    for name, obj in (
        ("xr", stack),
        ("composition", composites.composition),
        ("functions", composites.function),
    ):
        (scratch / f"{name}.yaml").write_text(dump(obj))
    command = [CROSSPLY, "render", "xr.yaml", "composition.yaml", "functions.yaml"]
    output = subprocess.run(command, cwd=scratch, check=True, capture_output=True).stdout
    objects = [document.value for document in read_stream(output)]
    return {
        obj["metadata"]["annotations"][RESOURCE_NAME]: obj for obj in objects if obj["kind"] == "ConfigMap"
    }

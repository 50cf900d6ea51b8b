"""Thirty minutes of a busy control plane: at the end everything must be what `crossply render` says.

Composite resources are edited, deleted and made, what they are made of is damaged, their Composition changes.

BENCH_SOAK sets the minutes (30), BENCH_XRS how many composite resources there are at any time (1000).
Ends with 1 if any is wrong, or if memory grew by more than a tenth after the first five minutes.
"""

from __future__ import annotations

import asyncio
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter

import orjson

from control_servers import CROSSPLY, embedded
from control_workload import (
    APP,
    COMPOSITION,
    CONFIG_MAP,
    DEFINITION,
    FUNCTION,
    NAMESPACE,
    app,
    composition,
    definition,
    function,
)
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.failures import KubeError, NotServed
from crossply.values import Object
from crossply.values.yaml import dump, read_stream
from processes import used

MINUTES = float(os.environ.get("BENCH_SOAK", "30"))
XRS = int(os.environ.get("BENCH_XRS", "1000"))
WARM_UP = min(5.0, MINUTES / 3) * 60
RESOURCE_NAME = "crossplane.io/composition-resource-name"
OWNER = "crossplane.io/composite"
DEEDS = {"edit": 600, "replace": 100, "damage": 150, "take away": 100, "recompose": 4}
"""What is done to them, and how often compared with the others."""
PACE = 0.2
"""The seconds from one to the next, whatever else the machine does."""


class Soak:
    """The composite resources that should exist, and what is done to them."""

    def __init__(self, client: Client, seed: int) -> None:
        self.client = client
        self.alive: list[int] = list(range(XRS))
        self.next = XRS
        self.recipe = composition()
        self.done: Counter[str] = Counter()
        self.luck = random.Random(seed)

    async def begin(self) -> None:
        await self.client.apply(FUNCTION, function(), "soak")
        await self.client.apply(DEFINITION, definition(), "soak")
        await self.client.apply(COMPOSITION, self.recipe, "soak")
        while True:
            try:
                await self.client.list(APP, NAMESPACE)
                break
            except NotServed:
                await asyncio.sleep(0.1)
        for number in self.alive:
            await self.client.create(APP, app(number))

    async def disturb(self) -> None:
        deed = self.luck.choices(list(DEEDS), list(DEEDS.values()))[0]
        await {
            "edit": self.edit,
            "replace": self.replace,
            "damage": self.damage,
            "take away": self.take_away,
            "recompose": self.recompose,
        }[deed]()
        self.done[deed] += 1

    async def edit(self) -> None:
        await self.client.apply(APP, app(self.luck.choice(self.alive), f"size-{self.luck.random()}"), "soak")

    async def replace(self) -> None:
        index = self.luck.randrange(len(self.alive))
        await self.client.delete(APP, app(self.alive[index])["metadata"]["name"], NAMESPACE)
        self.alive[index] = self.next
        self.next += 1
        await self.client.create(APP, app(self.alive[index]))

    async def damage(self) -> None:
        part = await self._some_part()
        if part is not None:
            patch = {"data": {"size": "damaged", "region": None}}
            await self.client.patch_merge(CONFIG_MAP, part["metadata"]["name"], patch, NAMESPACE, "vandal")

    async def take_away(self) -> None:
        part = await self._some_part()
        if part is not None:
            await self.client.delete(CONFIG_MAP, part["metadata"]["name"], NAMESPACE)

    async def recompose(self) -> None:
        """The same parts in another version, and one more that comes and goes."""
        self.recipe = composition()
        resources = self.recipe["spec"]["pipeline"][0]["input"]["resources"]
        if self.luck.random() < 0.5:
            resources.append({**resources[0], "name": "extra"})
        for resource in resources:
            resource["base"] = {
                **resource["base"],
                "metadata": {"labels": {"round": str(self.done["recompose"])}},
            }
        await self.client.apply(COMPOSITION, self.recipe, "soak")

    async def _some_part(self) -> Object | None:
        name = app(self.luck.choice(self.alive))["metadata"]["name"]
        items = (await self.client.list(CONFIG_MAP, NAMESPACE, label_selector=f"{OWNER}={name}")).items
        return orjson.loads(self.luck.choice(items)) if items else None


async def soak(soaked: Soak, processes: dict[str, int]) -> bool:
    """Disturb until the time is over, five times a second; whether memory stayed flat."""
    begun = told = time.monotonic()
    warm: dict[str, float] = {}
    most: dict[str, float] = {}
    while (now := time.monotonic()) - begun < MINUTES * 60:
        try:
            await soaked.disturb()
        except KubeError as problem:
            if problem.status not in (404, 409):  # somebody else was quicker
                raise
        rss = {process: used(pid).rss for process, pid in processes.items()}
        phase = warm if now - begun < WARM_UP else most
        for process, mib in rss.items():
            phase[process] = max(phase.get(process, 0.0), mib)
        if now - told >= 60:
            told = now
            shown = ", ".join(f"{process} {mib:.0f} MiB" for process, mib in rss.items())
            print(
                f"{(now - begun) / 60:.0f} min: {sum(soaked.done.values())} disturbances; {shown}", flush=True
            )
        await asyncio.sleep(max(0.0, now + PACE - time.monotonic()))
    print(f"done: {dict(soaked.done)}")
    for process in processes:
        grown = most[process] / warm[process] - 1
        print(
            f"{process}: {warm[process]:.0f} MiB in the first {WARM_UP / 60:.0f} minutes, then {grown:+.1%}"
        )
    return all(most[process] <= warm[process] * 1.1 for process in processes)


async def settled(client: Client) -> None:
    """Wait until nothing is written any more."""
    before = ""
    while True:
        now = (await client.list(CONFIG_MAP, NAMESPACE, label_selector=OWNER)).resource_version
        if now == before:
            return
        before = now
        await asyncio.sleep(10)


async def wrong(soaked: Soak) -> list[str]:
    """What is not as `crossply render` says."""
    parts: dict[str, dict[str, Object]] = {}
    for data in (await soaked.client.list(CONFIG_MAP, NAMESPACE, label_selector=OWNER)).items:
        obj = orjson.loads(data)
        owner = obj["metadata"]["labels"][OWNER]
        parts.setdefault(owner, {})[obj["metadata"]["annotations"][RESOURCE_NAME]] = obj
    found = []
    apps = [orjson.loads(data) for data in (await soaked.client.list(APP, NAMESPACE)).items]
    if len(apps) != len(soaked.alive):
        found.append(f"there are {len(apps)} composite resources, not {len(soaked.alive)}")
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        (place / "composition.yaml").write_text(dump(soaked.recipe))
        (place / "functions.yaml").write_text(dump(function()))
        for xr in apps:
            have = parts.pop(xr["metadata"]["name"], {})
            found += differences(xr, rendered(place, xr), have)
    return [*found, *(f"nobody owns what is left of {owner}" for owner in parts)]


def rendered(place: pathlib.Path, xr: Object) -> dict[str, Object]:
    """The composed resources that render shows, by name."""
    (place / "xr.yaml").write_text(dump(xr))
    command = [CROSSPLY, "render", "xr.yaml", "composition.yaml", "functions.yaml"]
    output = subprocess.run(command, cwd=place, check=True, capture_output=True).stdout
    objects = [document.value for document in read_stream(output)]
    return {
        obj["metadata"]["annotations"][RESOURCE_NAME]: obj for obj in objects if obj["kind"] == "ConfigMap"
    }


def differences(xr: Object, want: dict[str, Object], have: dict[str, Object]) -> list[str]:
    name = xr["metadata"]["name"]
    if want.keys() != have.keys():
        return [f"{name} has {sorted(have)}, wants {sorted(want)}"]
    return [
        f"{name}: {part} has {have[part].get('data')}, wants {want[part].get('data')}"
        for part in want
        if (want[part]["data"], want[part]["metadata"]["name"])
        != (have[part].get("data"), have[part]["metadata"]["name"])
    ]


async def main() -> int:
    seed = int(os.environ.get("BENCH_SEED", str(random.randrange(10**6))))
    print(f"{MINUTES:g} minutes, {XRS} composite resources, seed {seed}", flush=True)
    with embedded() as running:
        async with Client(load_config(running.kubeconfig)) as client:
            soaked = Soak(client, seed)
            await soaked.begin()
            flat = await soak(soaked, running.processes)
            await settled(client)
            problems = await wrong(soaked)
    for problem in problems[:20]:
        print(f"WRONG: {problem}")
    print(f"{len(problems)} wrong of {XRS}; memory {'stayed flat' if flat else 'GREW'}")
    return 0 if flat and not problems else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

"""`crossply runs` as a user calls it: list, show, compare, replay and export the runs of an XR."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import subprocess
from typing import NamedTuple

import pytest

from crossply.runs.client import RunClient
from crossply.values import Object
from crossply.values.yaml import dump
from tests.support.control_plane import CROSSPLY
from tests.support.e2e.kubeconfig import kubeconfig_for
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.things import READY, Things

pytestmark = pytest.mark.xdist_group("e2e")

PASSWORD = "hunter2-correct-horse"
SECRET = entry(
    "password",
    base={"kind": "Secret", "stringData": {"password": PASSWORD}},
    readinessChecks=[{"type": "None"}],
)


class Done(NamedTuple):
    code: int
    text: str
    stderr: str


class Commands:
    """The command `crossply` of a user of the control plane."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory
        self._environment = {**os.environ, "KUBECONFIG": str(directory / "kubeconfig"), "NO_COLOR": "1"}

    async def __call__(self, *words: str, within: str = ".") -> Done:
        done = await asyncio.to_thread(
            subprocess.run,
            [CROSSPLY, *words],
            cwd=self._directory / within,
            env=self._environment,
            capture_output=True,
            text=True,
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
async def crossply(s: Scenario, tmp_path: pathlib.Path) -> Commands:
    (tmp_path / "kubeconfig").write_text(dump(await kubeconfig_for(s.client.config)))
    return Commands(tmp_path)


async def edited(s: Scenario, *entries: Object) -> tuple[str, str]:
    """The arguments for an XR that was created and then edited, once both runs can be read."""
    things = await Things.defined(s)
    await things.compose(resources(entry("settings", SIZE), *entries))
    await things.apply("mine", {"size": "3"})
    await things.until("mine", READY)
    await things.apply("mine", {"size": "4"})
    words = (f"things.{s.group}/mine", f"--namespace={s.id}")

    async def both() -> bool:
        listed = await RunClient(s.client).list_runs("Thing", s.id, "mine")
        return any("edited" in why for run in listed for why in run.triggers)

    await s.eventually(both)
    return words


async def test_the_runs_of_an_xr_are_listed_shown_and_compared(s: Scenario, crossply: Commands) -> None:
    words = await edited(s)
    listed = await crossply("runs", *words)
    assert listed.text.startswith("RUN "), listed.stderr
    assert listed.text.rstrip().splitlines()[-1].split()[2] == "created"
    runs = json.loads((await crossply("runs", *words, "-o", "json")).text)["items"]
    [edit] = [run["id"] for run in runs if any("edited" in why for why in run["triggers"])]
    shown = await crossply("runs", "show", edit[:11])
    [line] = [line for line in shown.text.splitlines() if '+ data.size: "4"' in line]
    assert line.endswith("(FromCompositeFieldPath), from spec.size")
    mistyped = await crossply("runs", words[0].replace("mine", "mime"), words[1])
    assert mistyped.code == 1
    assert f"there is no such object in namespace {s.id}" in mistyped.stderr
    assert f"did you mean crossply runs thing/mine -n {s.id}?" in mistyped.stderr
    unknown = await crossply("runs", "ghosts/mine")
    assert (unknown.code, "the cluster has no such kind" in unknown.stderr) == (1, True)
    command = await crossply("runs", "shwo", "abc")
    assert "did you mean crossply runs show?" in command.stderr
    misspelled = await crossply("runs", words[0].replace("thing", "thign"), words[1])
    assert f"did you mean {words[0].partition('/')[0]}?" in misspelled.stderr
    command = await crossply("runs", "shwo", *words)
    assert 'unexpected argument shwo, did you mean "show"?' in command.stderr
    assert '~ data.size: "3" → "4"' in shown.text
    calls = json.loads((await crossply("runs", "show", edit, "--step", "compose", "-o", "json")).text)[
        "calls"
    ]
    assert calls[0]["request"]["observed"]["composite"]["resource"]["spec"]["size"] == "4"
    compared = await crossply("runs", "diff", runs[-1]["id"], edit)
    assert compared.code == 1
    assert '~ spec.size: "3" → "4"' in compared.text
    unknown = await crossply("runs", "show", "0" + edit[1:])
    assert unknown.code == 1
    assert f"did you mean {edit}" in unknown.stderr


async def test_a_replay_reports_no_difference_or_the_exact_one(
    s: Scenario, crossply: Commands, tmp_path: pathlib.Path
) -> None:
    words = await edited(s)
    same = await crossply("runs", "replay", *words)
    assert (same.code, same.stderr) == (0, "")
    assert "✓ the same effects: " in same.text
    assert (await crossply("runs", "export", words[0], "report", words[1])).code == 0
    composition = (tmp_path / "report" / "composition.yaml").read_text()
    (tmp_path / "edited.yaml").write_text(
        composition.replace("toFieldPath: data.size", "toFieldPath: data.big")
    )
    other = await crossply("runs", "replay", *words, "--composition", "edited.yaml")
    assert other.code == 1
    lines = other.text.splitlines()
    assert lines[1] == "✗ 1 effect differs from then (- then, + now)"
    assert [line.strip() for line in lines[3:]] == ['+ data.big: "4"', '- data.size: "4"']


async def test_an_exported_run_is_a_test_that_passes_and_has_no_secret_in_it(
    s: Scenario, crossply: Commands, tmp_path: pathlib.Path
) -> None:
    words = await edited(s, SECRET)
    exported = await crossply("runs", "export", words[0], "report", words[1])
    assert exported.code == 0, exported.stderr
    files = {path.name: path.read_text() for path in (tmp_path / "report").iterdir()}
    assert "secret values were not recorded" in files["README.md"]
    assert not [name for name, text in files.items() if PASSWORD in text]
    tested = await crossply("test", within="report")
    assert "1 passed" in tested.text, tested.text + tested.stderr
    [render] = [line.split() for line in files["README.md"].splitlines() if "crossply render" in line]
    rendered = await crossply(*render[1:], within="report")
    assert 'size: "4"' in rendered.text
    repeated = await crossply("runs", "export", words[0], "report", words[1])
    assert repeated.code == 1
    assert "--force" in repeated.stderr
    (tmp_path / "report" / "README.md").unlink()
    (tmp_path / "report" / "README.md").symlink_to(tmp_path / "kept.md")
    (tmp_path / "kept.md").write_text("mine")
    through_link = await crossply("runs", "export", words[0], "report", words[1], "--force")
    assert "is reached through a symbolic link" in through_link.stderr
    assert (tmp_path / "kept.md").read_text() == "mine"

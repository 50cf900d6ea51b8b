"""The command around the cases: snapshots, coverage, JUnit, filters, processes, watching."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from tests.support.suite_folder import COMPOSITION, Folder

CROSSPLY = str(pathlib.Path(sys.executable).with_name("crossply"))
CASE: dict[str, Any] = {"name": "makes a bucket", "expect": {"resources": [{"name": "bucket"}]}}
FAILING: dict[str, Any] = {"name": "makes a <queue>", "expect": {"resources": [{"name": "queue"}]}}


def test_a_snapshot_is_written_on_demand_and_compared_after(folder: Folder) -> None:
    folder.suite({"name": "All of it!", "snapshot": True})
    result = folder.run()
    assert result.code == 1
    assert "there is no snapshot yet\n        try: write it with --update" in result.out
    result = folder.run("--update")
    assert result.code == 0
    assert "wrote app_test.snapshots/all-of-it.yaml" in result.out
    assert "region: eu" in (folder.path / "app_test.snapshots/all-of-it.yaml").read_text()
    assert folder.run().code == 0
    assert "wrote" not in folder.run("--update").out, "nothing changed"


def test_a_pipeline_that_does_not_state_its_mode_is_run(folder: Folder) -> None:
    folder.write("composition.yaml", COMPOSITION.replace("  mode: Pipeline\n", ""))
    folder.suite(CASE)
    assert folder.run().code == 0


def test_snapshots_are_neither_written_nor_removed_through_a_link(
    folder: Folder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "precious.yaml").write_text("a: 1\n")
    folder.suite({"name": "all", "snapshot": True})
    (folder.path / "app_test.snapshots").symlink_to(elsewhere)
    result = folder.run("--update")
    assert (result.code, "is reached through a symbolic link" in result.out + result.err) == (2, True)
    assert [path.name for path in elsewhere.iterdir()] == ["precious.yaml"]


def test_a_snapshot_that_differs_is_reported_field_by_field(folder: Folder) -> None:
    folder.suite({"name": "all", "snapshot": True})
    folder.run("--update")
    changed = COMPOSITION.replace("region: eu", "region: us").replace("name: cdn", "name: cache")
    folder.write("composition.yaml", changed)
    result = folder.run()
    assert result.code == 1
    assert "resource bucket: spec.region\n        - expected: eu\n        + actual:   us\n" in result.out
    assert "resource cdn\n        - expected: there\n        + actual:   (nothing)\n" in result.out
    place = result.out.split("+ actual:   us\n        at ")[1].splitlines()[0]
    file, _, line = place.partition(":")
    assert (folder.path / file).read_text().splitlines()[int(line) - 1].strip() == "region: eu"
    assert folder.run("-u").code == 0
    assert folder.run().code == 0


def test_every_round_has_a_snapshot_of_its_own_and_unused_ones_go(folder: Folder) -> None:
    rounds = [{"snapshot": True}, {"observe": [{"name": "*", "ready": True}], "snapshot": True}]
    folder.suite({"name": "all", "rounds": rounds})
    folder.run("-u")
    snapshots = folder.path / "app_test.snapshots"
    assert sorted(os.listdir(snapshots)) == ["all.1.yaml", "all.2.yaml"]
    folder.suite({"name": "all", "snapshot": True})
    assert "unused snapshot app_test.snapshots/all.1.yaml" in folder.run().out
    assert "removed unused snapshot" in folder.run("-u").out
    assert os.listdir(snapshots) == ["all.yaml"]


def test_coverage_names_the_parts_no_case_reached(folder: Folder) -> None:
    failing = {"name": "fails", "xrPatch": {"spec": {"cdn": None}}, "expect": {"failure": "spec.cdn"}}
    folder.suite(failing)
    result = folder.run()
    assert result.code == 0
    assert "coverage of Composition apps: 1 of 3 steps, 0 of 2 resources\n" in result.out
    assert "  not reached: resource bucket at composition.yaml:24\n" in result.out
    assert "  not reached: step ready at composition.yaml:36\n" in result.out
    folder.suite(CASE, file="other_test.yaml")
    assert "coverage of Composition apps: 3 of 3 steps, 2 of 2 resources\n" in folder.run().out


def test_too_little_coverage_fails_when_some_is_demanded(folder: Folder) -> None:
    folder.suite({"name": "fails", "xrPatch": {"spec": {"cdn": None}}, "expect": {"failure": "spec.cdn"}})
    result = folder.run("--coverage", "80")
    assert result.code == 1
    assert "only 20 % of Composition apps were reached, not 80 %" in result.err
    folder.suite(CASE)
    assert folder.run("--coverage", "100").code == 0


def test_a_junit_file_has_every_case(folder: Folder) -> None:
    broken = {"name": "broken", "xr": "nowhere.yaml", "expect": {}}
    folder.suite(CASE, FAILING, broken, {"name": "later", "skip": "not yet", "expect": {}})
    result = folder.run("--junit", "report.xml")
    assert result.code == 2
    assert "1 passed, 1 failed, 1 broken, 1 skipped in" in result.out
    root = ET.parse(folder.path / "report.xml").getroot()
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert cases["makes a <queue>"].get("file") == "app_test.yaml"
    assert "- expected: composed" in (cases["makes a <queue>"].findtext("failure") or "")
    assert cases["broken"].find("error") is not None
    assert cases["makes a bucket"].find("failure") is None


def test_cases_are_chosen_by_their_names(folder: Folder) -> None:
    folder.suite(CASE, FAILING)
    assert folder.run("-k", "BUCKET").code == 0
    assert folder.run("-k", "queue").code == 1
    result = folder.run("-k", "nothing")
    assert result.code == 2
    assert "no case has nothing in its name" in result.err


def test_the_first_failure_is_enough_with_fail_fast(folder: Folder) -> None:
    folder.suite(FAILING, CASE)
    folder.suite(CASE, file="b_test.yaml")
    result = folder.run("--fail-fast", "-j", "1")
    assert result.code == 1
    assert "0 passed, 1 failed in" in result.out


def test_suites_run_in_several_processes_and_are_reported_in_order(folder: Folder) -> None:
    for number in range(5):
        folder.suite(CASE if number != 3 else FAILING, file=f"{number}_test.yaml")
    one, four = folder.run("-j", "1"), folder.run("-j", "4")
    assert (one.code, four.code) == (1, 1)
    heads = [line for line in four.out.splitlines() if line.endswith(": apps")]
    assert heads == [f"{number}_test.yaml: apps" for number in range(5)]
    assert "4 passed, 1 failed in" in four.out


def test_a_function_may_be_any_that_render_runs(folder: Folder) -> None:
    folder.write(
        "functions.yaml",
        {
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": "Function",
            "metadata": {
                "name": "function-auto-ready",
                "annotations": {
                    "crossply.dev/runtime": "process",
                    "crossply.dev/command": f"{CROSSPLY} function serve auto-ready --insecure "
                    "--address {address}",
                },
            },
            "spec": {"package": "example.org/crossplane-contrib/function-auto-ready:v1"},
        },
    )
    folder.suite(CASE)
    result = folder.run()
    assert result.code == 0, result.out


def test_a_function_that_hangs_ends_the_case_in_time(folder: Folder) -> None:
    hangs = "import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(60)"
    annotations = {
        "crossply.dev/runtime": "process",
        "crossply.dev/command": f'{sys.executable} -c "{hangs}"',
    }
    folder.write(
        "functions.yaml",
        {
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": "Function",
            "metadata": {"name": "function-auto-ready", "annotations": annotations},
            "spec": {"package": "example.org/crossplane-contrib/function-auto-ready:v1"},
        },
    )
    folder.suite(CASE, timeout="1s")
    started = time.monotonic()
    result = folder.run()
    assert result.code == 1
    assert 'cannot run Composition pipeline step "ready"' in result.out
    assert time.monotonic() - started < 30


def test_output_cannot_control_the_terminal(folder: Folder) -> None:
    folder.suite({"name": "\x1b[2Jgone", "expect": {"resources": [{"name": "a\x1b[31m"}]}})
    result = folder.run()
    assert "\x1b" not in result.out
    assert "\\x1b[2Jgone" in result.out


def test_long_values_are_shortened(folder: Folder) -> None:
    long = {"composite": {"status": {"url": "x" * 5000, "list": [{"a": n} for n in range(90)]}}}
    folder.suite({"name": "it", "expect": long})
    out = folder.run().out
    assert "... (5000 characters)" in out
    assert max(map(len, out.splitlines())) < 2200


def test_watching_reruns_after_a_change(folder: Folder) -> None:
    folder.suite(CASE)
    out = folder.path.parent / "out.txt"
    with out.open("w") as stream:
        process = subprocess.Popen([CROSSPLY, "test", "--watch"], stdout=stream, stderr=stream)
    try:
        _eventually(lambda: "1 passed" in out.read_text() and "waiting for a change" in out.read_text())
        folder.write("composition.yaml", COMPOSITION.replace("name: bucket", "name: pail"))
        _eventually(lambda: "1 failed" in out.read_text())
    finally:
        process.send_signal(signal.SIGINT)
    assert process.wait(15) == 0


def _eventually(condition: Any) -> None:
    end = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_colours_repeat_the_meaning_of_the_signs(folder: Folder) -> None:
    folder.suite(CASE, FAILING)
    plain, colored = folder.run().out, folder.run("--color", "always").out
    assert "\x1b" not in plain
    assert "  \x1b[32m✓\x1b[0m makes a bucket" in colored
    assert "  \x1b[31m✗\x1b[0m\x1b[1m makes a <queue>" in colored
    assert colored.splitlines()[-1].startswith("\x1b[31m✗ 1 passed, 1 failed in ")

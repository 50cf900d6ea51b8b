"""Run the end-to-end tests of Kubernetes on the server of a kubeconfig; e2e.sh starts one and calls this.

python -m tests.cluster.e2e --server embedded --kubeconfig K --programs BIN [PATTERN]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.cluster.e2e_page import SERVERS, read_page, write_page
from tests.cluster.e2e_selection import Selection, choose, focus, read_lines, unused

_HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(_HERE, "e2e-tests.txt")
PAGE = os.path.join(_HERE, "..", "..", "docs", "conformance.md")
TIMEOUT = "90m"
HEARTBEAT = 30.0
_NOT_RUN = {"State": "failed"}
# There are no nodes to wait for, and no controllers that would look after Pods.
FLAGS = (
    "-provider=skeleton",
    "-allowed-not-ready-nodes=-1",
    "-minStartupPods=0",
    "-num-nodes=0",
    "-e2e-verify-service-account=false",
    "-ginkgo.no-color",
    "-ginkgo.seed=1",
    f"-ginkgo.timeout={TIMEOUT}",
)


def main(arguments: Sequence[str]) -> int:
    """Run the chosen tests, print their results and write the page."""
    options = _parser().parse_args(arguments)
    with open(LIST, encoding="utf-8") as file:
        lines = read_lines(file.read())
    program = os.path.join(options.programs, "e2e.test")
    with tempfile.TemporaryDirectory(prefix="crossply-e2e-") as scratch:
        names = [name for name, _ in _reports(_ginkgo(program, options, scratch, "-ginkgo.dry-run"))]
        for line in unused(lines, names):
            print(f"e2e: no test is named so any more: {line.start}", file=sys.stderr)
        selection = choose(lines, names)
        selected = [name for name in selection.chosen if re.search(options.pattern, name)]
        print(f"e2e: {len(selected)} tests on the {options.server} server", file=sys.stderr)
        with _heartbeat(options):
            reports = _ginkgo(program, options, scratch, f"-ginkgo.focus={focus(selected)}")
    if broken := _broken_setup(reports):
        print(f"e2e: the tests cannot begin: {broken}", file=sys.stderr)
        return 1
    results = {name: report for name, report in _reports(reports) if name in selected}
    _summarize(selected, results)
    states = {name: _state(results.get(name, _NOT_RUN)) for name in selected}
    _publish(selection, lines, options, states)
    return int(any(state != "passed" for state in states.values()))


@contextlib.contextmanager
def _heartbeat(options: argparse.Namespace) -> Iterator[None]:
    """Change an object now and then, as nodes do: while nothing changes, no list is ever too old."""
    command = [os.path.join(options.programs, "kubectl"), f"--kubeconfig={options.kubeconfig}", "annotate"]
    command += ["namespace", "kube-public", "--overwrite"]
    over = threading.Event()

    def beat() -> None:
        count = 0
        while not over.wait(HEARTBEAT):
            count += 1
            subprocess.run([*command, f"example.org/beat={count}"], capture_output=True, check=False)

    beating = threading.Thread(target=beat)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="e2e.py", description=__doc__)
    parser.add_argument("--server", required=True, choices=SERVERS)
    parser.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG"))
    parser.add_argument("--programs", required=True, help="where e2e.test and kubectl are")
    parser.add_argument("--log", default=os.devnull, help="a file for what the tests print")
    parser.add_argument("pattern", nargs="?", default="", help="run only tests whose names fit this")
    return parser


def _ginkgo(program: str, options: argparse.Namespace, scratch: str, *more: str) -> list[Any]:
    report = os.path.join(scratch, "report.json")
    command = [program, *FLAGS, f"-kubeconfig={options.kubeconfig}", f"-ginkgo.json-report={report}", *more]
    command.append(f"-kubectl-path={os.path.join(options.programs, 'kubectl')}")
    with open(options.log, "ab") as log:
        subprocess.run(command, stdout=log, stderr=log, check=False)  # failed tests are in the report
    with open(report, encoding="utf-8") as file:
        suites = json.load(file)
    os.remove(report)
    return [report for suite in suites for report in suite["SpecReports"] or ()]


def _reports(reports: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    for report in reports:
        if report["LeafNodeType"] == "It":
            yield " ".join([*(report["ContainerHierarchyTexts"] or ()), report["LeafNodeText"]]), report


def _broken_setup(reports: Iterable[Any]) -> str:
    """Why what comes before all tests failed, such as the look for the Service `kubernetes`."""
    for report in reports:
        if report["LeafNodeType"].endswith("BeforeSuite") and report["State"] != "passed":
            return str((report.get("Failure") or {}).get("Message", report["State"]))
    return ""


def _state(report: Any) -> str:
    """passed, failed or skipped; whatever else ends a test counts as failed."""
    state: str = report["State"]
    return state if state in ("passed", "skipped") else "failed"


def _summarize(selected: Sequence[str], results: dict[str, Any]) -> None:
    for name in selected:
        report = results.get(name, _NOT_RUN)
        print(f"{_state(report):8}{report.get('RunTime', 0) / 1e9:7.1f} s  {name}")
        if _state(report) != "passed":
            message = (report.get("Failure") or {}).get("Message", "it did not run")
            print("\n".join(f"        {row}" for row in message[:1500].splitlines()))
    passed = sum(_state(report) == "passed" for report in results.values())
    print(f"e2e: {passed} of {len(selected)} tests pass")


def _publish(
    selection: Selection, lines: Sequence[Any], options: argparse.Namespace, states: dict[str, str]
) -> None:
    try:
        with open(PAGE, encoding="utf-8") as file:
            old = read_page(file.read())
    except FileNotFoundError:
        old = {}
    page = write_page(selection, lines, old, options.server, states, _kubernetes_version())
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


def _kubernetes_version() -> str:
    with open(os.path.join(_HERE, "go.mod"), encoding="utf-8") as file:
        match = re.search(r"k8s\.io/kubernetes (v\S+)", file.read())
    return match.group(1) if match else "of unknown version"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

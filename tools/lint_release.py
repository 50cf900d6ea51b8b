"""Check workflows, the chart and manifests with the programs that others use: `make lint-release`.

actionlint and kubeconform are built by Go, once, in .cache; so is Helm. zizmor is installed from PyPI into an
environment of its own. A check whose program cannot be had says SKIPPED. Exit code 1: something was found.
"""

from __future__ import annotations

import glob
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable

import manifests
from distribution.kubernetes_schemas import write_schemas
from distribution.paths import ROOT

CACHE = os.path.join(ROOT, ".cache", "lint")
CHART = os.path.join(ROOT, "deploy", "chart")
BUILD = os.path.join(ROOT, "tests", "cluster", "build.sh")
NO_GO = 3
EVERYTHING = (
    "runs.enabled=true",
    "dashboard.enabled=true",
    "rbac.connectionSecrets=true",
    "rbac.providers=true",
)
"""Values that add what the chart leaves out by default."""
OF_OTHERS = "ServiceMonitor,PrometheusRule"
"""Kinds of operators, whose schemas Kubernetes does not have."""


class Skipped(Exception):
    """A program cannot be had here."""


def main() -> int:
    """Run all checks; the exit status."""
    checks: dict[str, Callable[[], list[str]]] = {
        "actionlint": check_workflows,
        "zizmor": check_security_of_workflows,
        "helm lint": check_chart,
        "kubeconform": check_manifests,
    }
    failed = False
    for name, check in checks.items():
        try:
            problems = check()
        except Skipped as reason:
            print(f"{name}: SKIPPED - {reason}")
            continue
        failed = failed or bool(problems)
        print("\n".join([f"{name}: {'failed' if problems else 'clean'}", *problems]))
    return int(failed)


def check_workflows() -> list[str]:
    """What actionlint finds in the workflows."""
    return _run([_built("lint", "actionlint"), "-no-color"])


def check_security_of_workflows() -> list[str]:
    """What zizmor finds in the workflows and in the action that we publish."""
    return _run([_zizmor(), "--offline", "--quiet", ".github", "deploy/ci/github"])


def check_chart() -> list[str]:
    """What Helm finds in the chart."""
    helm = _helm()
    return _run([helm, "lint", "--strict", "--quiet", CHART]) + _run(
        [helm, "lint", "--strict", "--quiet", CHART, *_settings()]
    )


def check_manifests() -> list[str]:
    """What kubeconform finds in the plain manifests, and in all that the chart can make."""
    kubeconform, helm = _built("lint", "kubeconform"), _helm()
    with tempfile.TemporaryDirectory(prefix="crossply-schemas-") as scratch:
        location = write_schemas(scratch)
        rendered = os.path.join(scratch, "chart.yaml")
        with open(rendered, "w", encoding="utf-8") as file:
            subprocess.run([*manifests.template(helm), *_settings()], stdout=file, check=True)
        paths = [*sorted(glob.glob(os.path.join(ROOT, "deploy", "manifests", "*.yaml"))), rendered]
        return _run([kubeconform, "-schema-location", location, "-skip", OF_OTHERS, *paths])


def _settings() -> list[str]:
    return [word for setting in EVERYTHING for word in ("--set", setting)]


def _run(command: list[str]) -> list[str]:
    """What a program says, if it finds something."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines() or ["failed"] if done.returncode else []


def _helm() -> str:
    return manifests.present_helm() or _built("helm", "helm")


def _built(group: str, program: str) -> str:
    done = subprocess.run([BUILD, group], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == NO_GO:
        raise Skipped(f"there is no Go to build {program} with")
    if done.returncode:
        raise SystemExit(f"{program} cannot be built")
    return os.path.join(done.stdout.strip(), program)


def _zizmor() -> str:
    """The pinned zizmor, in an environment of its own."""
    program = os.path.join(CACHE, "bin", "zizmor")
    if not os.path.exists(program):
        venv.create(CACHE, with_pip=True, symlinks=True)
        requirements = os.path.join(ROOT, "requirements", "lint.txt")
        words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        command = [os.path.join(CACHE, "bin", "python"), *words, "-r", requirements]
        if subprocess.run(command, check=False).returncode:
            raise Skipped("zizmor cannot be installed")
    return program


if __name__ == "__main__":
    sys.exit(main())

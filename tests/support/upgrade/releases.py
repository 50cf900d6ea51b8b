"""This version of Crossply, and the one before it from the history of the repository."""

from __future__ import annotations

import compileall
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.paths import ROOT
from tests.support.programs import path_of

BEFORE = ("v0.1.0", "64d826ed02feb08569502dfd0f4f35902236da19")
"""The version before this one: its tag, or else its commit. It is the last one that CHANGELOG.md describes as
0.1.0: the next commit is the first that section 0.2.0 lists."""


@dataclass(frozen=True)
class Release:
    """A version with runnable commands."""

    version: str
    source: pathlib.Path | None = None
    """Its sources, unless it is the one that is installed here."""

    @property
    def environ(self) -> dict[str, str]:
        """Variables that make Python run this version."""
        return {**os.environ, "PYTHONPATH": str(self.source)} if self.source else dict(os.environ)

    def command(self, *words: str) -> list[str]:
        """How one of its commands is run."""
        return [sys.executable, "-P", "-m", "crossply.cli", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words), env=self.environ, capture_output=True, text=True, timeout=300, check=False
        )

    @contextlib.contextmanager
    def up(self, data: pathlib.Path) -> Iterator[None]:
        """A control plane on a data directory."""
        try:
            started = self.run("up", "--detach", "--data", str(data))
            assert started.returncode == 0, started.stderr
            yield
        finally:
            stopped = self.run("down", "--data", str(data))
            assert stopped.returncode == 0, stopped.stderr

    @contextlib.contextmanager
    def controllers(self, kubeconfig: str, directory: pathlib.Path) -> Iterator[None]:
        """The controllers at work in a cluster."""
        ports = ("--metrics-port=0", "--health-probe-port=0", "--webhook-port=0")
        words = ("controller", "--kubeconfig", kubeconfig, "--xpkg-cache-dir", str(directory / "packages"))
        log = directory / f"controllers-{self.version}.log"
        with open(log, "a") as errors:
            process = subprocess.Popen(
                self.command(*words, *ports),
                # Other control planes on this machine have a place for temporary files of their own.
                env={**self.environ, "TMPDIR": str(directory)},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "control plane ready\n", log.read_text()
            yield
        finally:
            process.terminate()
            process.stdout.close()
            process.wait(60)


def release_before(directory: pathlib.Path) -> Release:
    """The version before this one; skips the test where the history of the repository is not there."""
    for revision in BEFORE:
        command = [path_of("git"), "-C", str(ROOT), "archive", revision, "src"]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
                archive.extractall(directory, filter="data")
            # Else its first start compiles it, and 0.1.0 gives up after a minute.
            compileall.compile_dir(directory / "src", quiet=1)
            return Release("0.1.0", directory / "src")
    pytest.skip("NO UPGRADE IS TESTED: this checkout does not have version 0.1.0; run git fetch --unshallow")

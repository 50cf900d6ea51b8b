"""build.sh with a fake Go: what it builds, when it does not, and its messages."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "build.sh")
PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"]
TOOLS = (
    "awk",
    "bash",
    "chmod",
    "cut",
    "dirname",
    "env",
    "flock",
    "mkdir",
    "mv",
    "nice",
    "sha256sum",
    "sleep",
    "stat",
    "tail",
)
FAKE_GO = """#!/usr/bin/env bash
echo "$@" >>"$GO_CALLS"
while [ "$1" != -o ]; do shift; done
{ [ "$GO_FAILS" = "${2##*/}" ] && echo "cannot find module" >&2 && exit 1; } || echo program >"$2"
chmod +x "$2"
"""


class Workshop:
    """A PATH with only the named tools, a cache, and a list of the calls of Go."""

    def __init__(self, directory):
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.cache = directory / "cache"
        self.calls = directory / "calls"
        self.calls.touch()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))

    def with_go(self):
        (self.bin / "go").write_text(FAKE_GO)
        (self.bin / "go").chmod(0o755)
        return self

    def begin(self, *arguments, failing=""):
        environment = {
            "PATH": str(self.bin),
            "CROSSPLY_CLUSTER_CACHE": str(self.cache),
            "GO_CALLS": str(self.calls),
            "GO_FAILS": failing,
        }
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([BUILD, *arguments], env=environment, **pipes)

    def build(self, *arguments, failing=""):
        with self.begin(*arguments, failing=failing) as running:
            output, progress = running.communicate(timeout=60)
        return running.returncode, output.strip(), progress

    def go_calls(self):
        return self.calls.read_text().splitlines()


@pytest.fixture
def workshop(tmp_path):
    return Workshop(tmp_path)


def test_without_go_it_exits_with_3_and_a_message(workshop):
    code, output, progress = workshop.build()
    assert (code, output) == (3, "")
    assert progress.startswith("There is no Go here, and etcd kube-apiserver")


def test_two_builds_at_once_build_every_program_once_and_the_next_needs_no_go(workshop):
    first, second = workshop.with_go().begin(), workshop.begin()
    ends = [running.communicate(timeout=60) for running in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0]
    assert ends[0][0] == ends[1][0]
    assert sorted(os.listdir(ends[0][0].strip())) == PROGRAMS
    assert len(workshop.go_calls()) == len(PROGRAMS)
    assert "building kube-apiserver (2 of 4) ..." in ends[0][1] + ends[1][1]

    (workshop.bin / "go").unlink()
    assert workshop.build() == (0, ends[0][0].strip(), "")


def test_the_version_is_set_at_link_time(workshop):
    workshop.with_go().build()
    assert len(workshop.go_calls()) == len(PROGRAMS)
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        assert all(f"-X {package}.gitVersion=v1." in call for call in workshop.go_calls())


def test_a_failed_build_shows_the_compilers_words_and_is_retried(workshop):
    code, output, progress = workshop.with_go().build(failing=".kubectl.part")
    assert (code, output) == (1, "")
    assert progress.endswith("cannot find module\n")
    assert workshop.build()[0] == 0
    assert len(workshop.go_calls()) == len(PROGRAMS) + 1


def test_the_end_to_end_tests_are_built_on_request(workshop):
    _, directory, _ = workshop.with_go().build("e2e")
    assert "e2e.test" in os.listdir(directory)


def test_helm_is_built_alone_and_knows_its_version(workshop):
    _, directory, _ = workshop.with_go().build("helm")
    assert os.listdir(directory) == ["helm"]
    [call] = workshop.go_calls()
    assert "helm.sh/helm/v3/internal/version.version=v3." in call
    assert workshop.build()[1] != directory


def test_crossplane_is_built_alone_and_knows_its_version(workshop):
    _, directory, _ = workshop.with_go().build("crossplane")
    assert os.listdir(directory) == ["crossplane"]
    [call] = workshop.go_calls()
    assert "crossplane-runtime/v2/pkg/version.version=v2." in call


def test_an_unknown_request_is_wrong_use(workshop):
    assert workshop.build("everything")[0] == 2

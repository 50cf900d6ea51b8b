"""`crossply logs`: what packages of a data directory wrote, with rotated files and while more is written."""

from __future__ import annotations

import os
import subprocess

import pytest

from crossply.containers.log_file import LogFile, log_path
from crossply.containers.output_tail import ContainerLog
from tests.support.cli.up_process import CROSSPLY, crossply


@pytest.fixture
def log(tmp_path):
    return LogFile(log_path(str(tmp_path / "logs"), "Provider", "provider-try"), max_bytes=100)


def test_the_log_of_a_provider_is_shown_from_both_of_its_files(log, tmp_path):
    for number in range(8):
        log.write(f"line {number} of the provider")
    done = crossply("logs", "provider/provider-try", "--data", str(tmp_path), "--tail=3")
    assert done.stdout.splitlines() == [f"line {number} of the provider" for number in (5, 6, 7)]
    whole = crossply("logs", "provider.pkg.crossplane.io", "provider-try", "--data", str(tmp_path))
    assert whole.stdout.splitlines()[-3:] == done.stdout.splitlines()


def test_the_control_plane_of_the_kubeconfig_is_meant(log, tmp_path, monkeypatch):
    log.write("found")
    (tmp_path / "port").write_text("6443")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    assert crossply("logs", "provider/provider-try").stdout == "found\n"
    other = crossply("logs", "provider/provider-try", "--data", str(tmp_path / "other"))
    assert other.returncode == 1


def test_a_log_is_followed_when_its_file_is_full(log, tmp_path):
    log.write("first")
    command = [CROSSPLY, "logs", "provider/provider-try", "--follow", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "first\n"
            lines = []
            for number in range(6):
                log.write(f"line {number} that is long enough to fill a file")
                lines.append(process.stdout.readline())
            assert [line.split()[1] for line in lines] == list("012345")
        finally:
            process.terminate()


def test_the_output_of_a_function_in_a_container_is_logged(tmp_path):
    output = ContainerLog(log_path(str(tmp_path / "logs"), "Function", "shop"))
    pipe = os.dup(output.write)
    output.begin()
    os.write(pipe, b"one line\nand the beginning of ")
    os.write(pipe, b"another")
    os.close(pipe)
    output.finish()
    done = crossply("logs", "function/shop", "--data", str(tmp_path))
    assert done.stdout == "one line\nand the beginning of another\n"


@pytest.mark.parametrize("words", [["provider"], ["pod/x"], ["provider/../x"]])
def test_a_log_has_a_kind_and_a_name(words, tmp_path):
    done = crossply("logs", *words, "--data", str(tmp_path))
    assert done.returncode != 0
    assert "provider/NAME or function/NAME" in done.stderr


def test_a_missing_log_is_reported_with_the_existing_ones(log, tmp_path):
    log.write("first")
    done = crossply("logs", "function/shop", "--data", str(tmp_path))
    assert done.returncode != 0
    assert "there are logs of provider/provider-try" in done.stderr

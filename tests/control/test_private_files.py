"""Private keys are not left behind by processes that are killed."""

from __future__ import annotations

import os
import pathlib
import ssl
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from crossply.certificates import FOR_CLIENTS, Purpose, Span, new_authority, new_certificate, subject_of
from crossply.control.runtimes.private_files import PrivateFiles
from crossply.kube.tls import Certificate, tls_context

_PROGRAM = """
import sys
from crossply.control.runtimes.private_files import PrivateFiles
files = PrivateFiles(sys.argv[1])
files.replace({"tls.key": b"private"})
print(files.directory, flush=True)
sys.stdin.read()
"""


def _start_process(place: pathlib.Path) -> tuple[subprocess.Popen[str], pathlib.Path]:
    """A process that has private files, and where they are."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, pathlib.Path(process.stdout.readline().strip())


def test_files_of_a_process_that_was_killed_are_removed_by_the_next_and_those_of_others_stay(
    tmp_path: pathlib.Path,
) -> None:
    killed, left = _start_process(tmp_path / "place")
    living, remaining = _start_process(tmp_path / "place")
    with killed, living:
        killed.kill()
        killed.wait()
        assert (left / "tls.key").read_bytes() == b"private"
        own = PrivateFiles(str(tmp_path / "place"))
        assert not left.parent.exists()
        assert (remaining / "tls.key").read_bytes() == b"private"
        own.remove()
        living.kill()


def test_processes_that_start_together_keep_their_directories(tmp_path: pathlib.Path) -> None:
    place = str(tmp_path / "place")

    def start_often(_: int) -> None:
        for _ in range(50):
            files = PrivateFiles(place)
            files.replace({"tls.key": b"private"})
            assert (pathlib.Path(files.directory) / "tls.key").read_bytes() == b"private"
            files.remove()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(start_often, range(8))) == [None] * 8


def test_files_are_for_their_owner_only_and_go_when_they_are_removed(tmp_path: pathlib.Path) -> None:
    files = PrivateFiles(str(tmp_path / "place"))
    files.replace({"tls.key": b"private"})
    paths = [path for path in (tmp_path / "place").rglob("*") if not path.is_symlink()]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "place", *paths)}
    assert modes == {0o700, 0o600}
    files.remove()
    assert list((tmp_path / "place").iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this build of Python has no memfd_create")
def test_a_client_certificate_is_used_without_a_file_for_its_key(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    span = Span(now, now + timedelta(days=1))
    authority = new_authority(subject_of("test"), span)
    pair = new_certificate(Purpose(subject_of("client"), FOR_CLIENTS), authority, span)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    shown = Certificate(pair.certificate_pem, pair.key_pem)
    assert isinstance(tls_context(authority.certificate_pem, False, shown), ssl.SSLContext)


def test_files_of_version_0_1_0_on_the_same_machine_are_left_alone(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "crossply-credentials-abc").mkdir()
    PrivateFiles().remove()
    assert (tmp_path / "crossply-credentials-abc").is_dir()

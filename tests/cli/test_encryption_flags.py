"""The flags of encryption in `crossply up`: keys reach the API server and no other process."""

from __future__ import annotations

import base64
import io
import os
import pathlib
import subprocess

import pytest

from crossply.cli.apiserver.encryption_flags import take_key_variable
from crossply.cli.framework.command import Invocation
from crossply.cli.framework.parser import Parsed, parse
from tests.support.cli.up_process import plane_at
from tests.support.patience import PATIENCE
from tests.support.programs import needs

pytestmark = pytest.mark.xdist_group("up")

CANARY = "canary-in-the-coal-mine"
KEY = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture
def plane(tmp_path, monkeypatch):
    monkeypatch.setenv("CROSSPLY_TEST_KEY", KEY)
    with plane_at(tmp_path / "data") as control_plane:
        yield control_plane


def kubectl(plane, *words):
    command = ["kubectl", "--kubeconfig", str(plane.data / "kubeconfig"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=2 * PATIENCE).stdout


def files(directory):
    return [path for path in pathlib.Path(directory).rglob("*") if path.is_file()]


@needs("kubectl")
def test_up_encrypts_secrets_with_a_key_of_its_environment(plane):
    done = plane.up("--encryption-key-env", "CROSSPLY_TEST_KEY")
    assert done.returncode == 0, done.stderr
    kubectl(plane, "create", "secret", "generic", "mine", f"--from-literal=password={CANARY}")
    encoded = base64.b64encode(CANARY.encode())
    shown = kubectl(plane, "get", "secret", "mine", "-o", "jsonpath={.data.password}")
    assert shown.encode() == encoded
    for process in (plane.process, plane.api_server):
        assert KEY.encode() not in pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes()
    plane.down()
    assert [path for path in files(plane.data) if encoded in path.read_bytes()] == []
    assert KEY not in plane.log
    refused = plane.up()
    assert refused.returncode == 1
    assert (
        "the API server did not start: the data is encrypted, and no encryption key is given"
        in refused.stderr
    )
    assert "CP-622" in plane.log


def test_the_key_variable_is_for_the_api_server_and_not_for_functions_that_up_starts(monkeypatch):
    monkeypatch.setenv("CROSSPLY_TEST_KEY", KEY)
    values = parse(["up", "--encryption-key-env", "CROSSPLY_TEST_KEY"], {}, Parsed())
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), io.StringIO())
    keys = take_key_variable(Invocation("up", values, **streams, environ=os.environ, config={}))
    assert keys == {"CROSSPLY_TEST_KEY": KEY}
    inherited = subprocess.run(["env"], capture_output=True, text=True, check=True).stdout
    assert "CROSSPLY_TEST_KEY" not in inherited


def test_a_detached_start_without_the_key_gives_a_hint(plane):
    assert plane.up("--encryption-key-env", "CROSSPLY_TEST_KEY").returncode == 0
    plane.down()
    refused = plane.up()
    assert refused.returncode == 1
    assert "no encryption key is given" in refused.stderr
    assert "give the key that encrypted them" in refused.stderr

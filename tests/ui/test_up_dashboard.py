"""The dashboard that `crossply up` offers: its address, its process, and its end."""

import io
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from crossply.cli.framework.command import Invocation
from crossply.cli.framework.parser import Parsed, parse
from crossply.cli.local_control_plane.lock import is_locked
from crossply.cli.up.dashboard_flags import offered_address
from crossply.cli.up.dashboard_process import make_dashboard
from tests.support.control_plane import CROSSPLY
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("up")
ADDRESS = re.compile(r"^see:  (http://127\.0\.0\.1:\d+/login\?token=\S+)$", re.M)


def crossply(*words):
    command = [CROSSPLY, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=3 * PATIENCE, check=True).stdout


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("plane") / "data"
    try:
        crossply("up", "--detach", "--in-memory", "--data", str(directory))
        yield directory
    finally:
        if is_locked(str(directory)):
            crossply("down", "--data", str(directory))


def address(data):
    return ADDRESS.search(crossply("up", "--detach", "--data", str(data)))[1]


def status(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


def dashboards(data):
    """The processes that serve the dashboard of a data directory."""
    processes = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"ui" in words and str(data / "kubeconfig").encode() in words:
            processes.append(int(path.parent.name))
    return processes


def test_it_starts_with_the_first_connection_and_every_address_opens_it_once(data):
    assert dashboards(data) == []
    first = address(data)
    assert dashboards(data) == []
    assert status(first) == 200
    assert len(dashboards(data)) == 1
    assert status(first) == 403
    assert status(address(data)) == 200
    assert len(dashboards(data)) == 1


def test_the_log_has_no_address_that_opens_it(data):
    assert "token=" not in (data / "up.log").read_text()
    assert (data / "dashboard").stat().st_mode & 0o077 == 0


def test_it_is_restarted_after_an_exit(data):
    assert status(address(data)) == 200
    (pid,) = dashboards(data)
    subprocess.run(["kill", "-9", str(pid)], check=True)
    assert status(address(data)) == 200
    assert dashboards(data) != [pid]


def test_it_stops_with_the_control_plane_and_no_address_is_left(data):
    assert status(address(data)) == 200
    crossply("down", "--data", str(data))
    deadline = time.monotonic() + PATIENCE
    while dashboards(data) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert dashboards(data) == []
    assert len((data / "dashboard").read_text().split()) == 1  # the port only


def test_none_is_offered_without_one(tmp_path):
    (tmp_path / "dashboard").write_text("1234 00")
    words = ["up", "--no-ui", "--data", str(tmp_path)]
    values = parse(words, {}, Parsed())
    streams = {"stdin": io.StringIO(), "stdout": io.StringIO(), "stderr": io.StringIO()}
    assert make_dashboard(Invocation("up", values, **streams, environ={}, config={})) is None
    assert offered_address(str(tmp_path)) == ""

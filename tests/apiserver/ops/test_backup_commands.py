"""Backups by command: of a running server, of a stopped one, and what is restored from them."""

from __future__ import annotations

import pathlib
import shutil
import stat
import subprocess
import threading

from tests.support.apiserver.servers import CONFIG_MAPS, CROSSPLY, Program, config_map, events
from tests.support.apiserver.users import JANE, token_file


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CROSSPLY, "apiserver", *words], capture_output=True, text=True, timeout=60)


def _numbers(server: Program) -> dict[str, int]:
    items = server.ask("GET", CONFIG_MAPS).json["items"]
    return {item["metadata"]["name"]: int(item["data"]["n"]) for item in items if "n" in item["data"]}


class _Writer(threading.Thread):
    """Increments two objects in turn: first a, then b. At any time a equals b or is one ahead."""

    def __init__(self, server: Program) -> None:
        super().__init__()
        self._server = server
        self._enough = threading.Event()
        self.rounds = 0

    def run(self) -> None:
        for name in ("a", "b"):
            self._server.create_map(name, n="0")
        connection = self._server.connect()
        while not self._enough.is_set():
            self.rounds += 1
            for name in ("a", "b"):
                body = config_map(name, n=str(self.rounds))
                assert self._server.ask_on(connection, "PUT", f"{CONFIG_MAPS}/{name}", body).status == 200
        connection.close()

    def finish(self) -> None:
        self._enough.set()
        self.join()


def test_a_backup_of_a_running_server_is_a_snapshot_and_can_be_restored(tmp_path: pathlib.Path) -> None:
    backups = [tmp_path / f"{number}.db" for number in range(2)]
    with Program(tmp_path / "data") as server:
        writer = _Writer(server)
        writer.start()
        outcomes = [_run("backup", "--data", str(server.directory), str(path)) for path in backups]
        writer.finish()
        newest = int(server.metrics()["crossply_storage_revision"])
        leftovers = [path.name for path in server.directory.iterdir() if path.name.startswith("backup-")]
    assert [outcome.returncode for outcome in outcomes] == [0, 0], outcomes
    assert (writer.rounds > 3, leftovers) == (True, [])
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in backups} == {"0o600"}
    restored = tmp_path / "restored"
    assert _run("restore", "--data", str(restored), str(backups[-1])).returncode == 0
    with Program(restored) as server:
        numbers = _numbers(server)
        assert numbers["a"] - numbers["b"] in (0, 1), "all of one moment"
        assert int(server.create_map("new").json["metadata"]["resourceVersion"]) > newest
        with server.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion={newest}") as watch:
            assert [event["object"]["code"] for event in events(watch)] == [410], "who watched reads anew"


def test_a_stopped_server_is_backed_up_from_its_data(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data") as server:
        server.create_map("kept")
    assert _run("backup", "--data", str(tmp_path / "data"), str(tmp_path / "b.db")).returncode == 0
    assert _run("restore", "--data", str(tmp_path / "other"), str(tmp_path / "b.db")).returncode == 0
    with Program(tmp_path / "other") as server:
        assert server.ask("GET", f"{CONFIG_MAPS}/kept").status == 200


def test_nothing_is_overwritten(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data") as server:
        (tmp_path / "b.db").write_text("precious")
        refused = _run("backup", "--data", str(server.directory), str(tmp_path / "b.db"))
        assert (refused.returncode, (tmp_path / "b.db").read_text()) == (1, "precious")
        assert _run("backup", "--data", str(server.directory), str(tmp_path / "c.db")).returncode == 0
    refused = _run("restore", "--data", str(tmp_path / "data"), str(tmp_path / "c.db"))
    assert refused.returncode == 1
    assert "is not empty" in refused.stderr


def test_a_backup_that_is_damaged_is_not_restored(tmp_path: pathlib.Path) -> None:
    backup = tmp_path / "b.db"
    with Program(tmp_path / "data") as server:
        server.create_map("kept", text="x" * 5000)
        assert _run("backup", "--data", str(server.directory), str(backup)).returncode == 0
    good = backup.read_bytes()
    flipped = bytearray(good)
    flipped[good.rindex(b"x" * 1000) + 500] ^= 1
    for damaged in (good[:-5000], bytes(flipped), b"not a database"):
        backup.write_bytes(damaged)
        refused = _run("restore", "--data", str(tmp_path / "other"), str(backup))
        assert refused.returncode == 1
        assert "damaged" in refused.stderr
        assert "Traceback" not in refused.stderr


def test_a_user_without_administrator_rights_gets_no_backup(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data", "--in-memory", "--token-file", token_file(tmp_path)) as server:
        refused = server.ask("GET", "/crossply/backup", token=JANE)
        assert (refused.status, refused.json["reason"]) == (403, "Forbidden")
        assert server.ask("POST", "/crossply/backup").status == 405


def test_a_directory_that_is_not_a_servers_is_reported(tmp_path: pathlib.Path) -> None:
    refused = _run("backup", "--data", str(tmp_path), str(tmp_path / "b.db"))
    assert refused.returncode == 1
    assert "is not the data directory of an API server" in refused.stderr


def test_a_server_in_memory_can_be_backed_up_too(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data", "--in-memory") as server:
        server.create_map("kept")
        assert _run("backup", "--data", str(server.directory), str(tmp_path / "b.db")).returncode == 0
    assert _run("restore", "--data", str(tmp_path / "other"), str(tmp_path / "b.db")).returncode == 0
    deleted = _run("backup", "--data", str(tmp_path / "data"), str(tmp_path / "c.db"))
    assert deleted.returncode == 1
    assert "holds no data, and no server runs on it" in deleted.stderr


def test_a_backup_is_a_new_file_whatever_others_prepared(tmp_path: pathlib.Path) -> None:
    prepared = tmp_path / "b.db.partial"
    prepared.write_text("")
    prepared.chmod(0o666)
    with Program(tmp_path / "data") as server:
        assert _run("backup", "--data", str(server.directory), str(tmp_path / "b.db")).returncode == 0
    assert _run("backup", "--data", str(tmp_path / "data"), str(tmp_path / "c.db")).returncode == 0
    assert prepared.read_text() == ""
    assert {oct(stat.S_IMODE((tmp_path / name).stat().st_mode)) for name in ("b.db", "c.db")} == {"0o600"}


def test_a_bare_copy_of_a_database_is_not_restored(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data") as server:
        server.create_map("acknowledged")
        shutil.copy(tmp_path / "data" / "data" / "crossply.db", tmp_path / "copy.db")
    refused = _run("restore", "--data", str(tmp_path / "other"), str(tmp_path / "copy.db"))
    assert refused.returncode == 1
    assert "copy of a server's database" in refused.stderr
    assert "crossply apiserver backup" in refused.stderr


def test_nothing_is_restored_or_served_beside_a_running_server(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data") as server:
        server.create_map("kept")
        assert _run("backup", "--data", str(server.directory), str(tmp_path / "b.db")).returncode == 0
        (tmp_path / "data" / "data").rename(tmp_path / "data" / "data.old")
        for words in (["restore", str(tmp_path / "b.db")], ["--in-memory", "--listen", "127.0.0.1:0"]):
            refused = _run(*words, "--data", str(server.directory))
            assert refused.returncode == 1
            assert "is in use by another process" in refused.stderr
        (tmp_path / "data" / "data.old").rename(tmp_path / "data" / "data")


def test_a_backup_that_was_cut_off_is_removed_at_the_next_start(tmp_path: pathlib.Path) -> None:
    left = tmp_path / "data" / "backup-abc"
    left.mkdir(parents=True)
    (left / "backup.db").write_text("every Secret")
    with Program(tmp_path / "data"):
        assert not left.exists()


def test_a_token_that_others_can_read_is_refused(tmp_path: pathlib.Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir(mode=0o700)
    (directory / "admin.token").write_text("known-to-others")
    (directory / "admin.token").chmod(0o644)
    refused = _run("--data", str(directory), "--listen", "127.0.0.1:0")
    assert refused.returncode == 1
    assert "admin.token is not a file that belongs to you" in refused.stderr

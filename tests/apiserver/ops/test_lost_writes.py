"""After `kill -9`, a damaged or lost write-ahead log: the server has every acknowledged write, or refuses."""

from __future__ import annotations

import pathlib
import random
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, CROSSPLY, Program, config_map, events

FRAME = 24 + 8192
Damage = Callable[[pathlib.Path], None]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, dict[str, int]]:
    """The directory of a server that was killed, and the versions that it had acknowledged."""
    directory = tmp_path_factory.mktemp("killed") / "data"
    server = Program(directory)
    acknowledged: dict[str, int] = {}
    write(server, "first", 120, acknowledged)
    shutil.copy(directory / "data" / "crossply.db-wal", directory / "older-wal")
    write(server, "second", 180, acknowledged)
    server.kill()
    return directory, acknowledged


def write(server: Program, label: str, count: int, acknowledged: dict[str, int]) -> None:
    """Create objects from several clients at once, and note the version of each answer."""

    def client(number: int) -> None:
        with closing(server.connect()) as connection:
            for index in range(count // 6):
                name = f"{label}-{number}-{index}"
                answer = server.ask_on(connection, "POST", CONFIG_MAPS, config_map(name, text="x" * 2000))
                assert answer.status == 201, answer.body
                acknowledged[name] = int(answer.json["metadata"]["resourceVersion"])

    with ThreadPoolExecutor(6) as clients:
        list(clients.map(client, range(6)))


def wal_of(directory: pathlib.Path) -> pathlib.Path:
    return directory / "data" / "crossply.db-wal"


def remove(directory: pathlib.Path) -> None:
    wal_of(directory).unlink()


def truncate_to(share: float) -> Damage:
    def truncate(directory: pathlib.Path) -> None:
        content = wal_of(directory).read_bytes()
        wal_of(directory).write_bytes(content[: int(len(content) * share)])

    return truncate


def flip(*places: int) -> Damage:
    def flip_bytes(directory: pathlib.Path) -> None:
        content = bytearray(wal_of(directory).read_bytes())
        for place in places:
            content[place] ^= 0x10
        wal_of(directory).write_bytes(content)

    return flip_bytes


def flip_anywhere(seed: int) -> Damage:
    def flip_bytes(directory: pathlib.Path) -> None:
        flip(random.Random(seed).randrange(32, wal_of(directory).stat().st_size))(directory)

    return flip_bytes


def replace_by_older_copy(directory: pathlib.Path) -> None:
    shutil.copy(directory / "older-wal", wal_of(directory))


def remove_shared_memory(directory: pathlib.Path) -> None:
    (directory / "data" / "crossply.db-shm").unlink(missing_ok=True)


def remove_mark(directory: pathlib.Path) -> None:
    (directory / "data" / "crossply.db-mark").unlink()


def remove_log_and_mark(directory: pathlib.Path) -> None:
    remove(directory)
    remove_mark(directory)


REFUSED = {
    "the log is removed": remove,
    "the log is empty": truncate_to(0),
    "half of the log is left": truncate_to(0.5),
    "the log ends within a frame of an acknowledged write": truncate_to(0.9),
    "a byte of the log's magic number is flipped": flip(0),
    "a byte of the log's page size is flipped": flip(10),
    "a byte of the log's salt is flipped": flip(18),
    "a byte of the log's checksum is flipped": flip(30),
    "a byte of the first frame's page number is flipped": flip(32 + 3),
    "a byte of the tenth frame's salt is flipped": flip(32 + 10 * FRAME + 9),
    "a byte of the tenth frame's page is flipped": flip(32 + 10 * FRAME + 4000),
    "an older copy of the log is put in its place": replace_by_older_copy,
    "the mark is removed": remove_mark,
    "the log and the mark are removed": remove_log_and_mark,
}


def start(directory: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Start a server that is expected to refuse."""
    command = [CROSSPLY, "apiserver", "--data", str(directory), "--listen", "127.0.0.1:0"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def accept_loss(directory: pathlib.Path) -> subprocess.CompletedProcess[str]:
    command = [CROSSPLY, "apiserver", "accept-loss", "--data", str(directory)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def versions(server: Program) -> dict[str, int]:
    items = server.ask("GET", CONFIG_MAPS).json["items"]
    return {item["metadata"]["name"]: int(item["metadata"]["resourceVersion"]) for item in items}


@pytest.fixture
def copy(
    killed: tuple[pathlib.Path, dict[str, int]], tmp_path: pathlib.Path
) -> tuple[pathlib.Path, dict[str, int]]:
    directory, acknowledged = killed
    return shutil.copytree(directory, tmp_path / "data"), acknowledged


def assert_all_there(directory: pathlib.Path, acknowledged: dict[str, int]) -> None:
    with Program(directory) as server:
        assert server.url, server.log_text()
        assert acknowledged.items() <= versions(server).items()


def test_a_server_that_was_killed_starts_with_all_acknowledged_writes(
    copy: tuple[pathlib.Path, dict[str, int]],
) -> None:
    assert wal_of(copy[0]).stat().st_size > 50 * FRAME
    assert_all_there(*copy)
    assert not wal_of(copy[0]).exists()
    assert_all_there(*copy)


def test_the_shared_memory_file_of_the_log_is_not_needed(copy: tuple[pathlib.Path, dict[str, int]]) -> None:
    remove_shared_memory(copy[0])
    assert_all_there(*copy)


def test_a_torn_frame_of_a_write_without_an_answer_is_no_loss(
    copy: tuple[pathlib.Path, dict[str, int]],
) -> None:
    log = wal_of(copy[0]).read_bytes()
    wal_of(copy[0]).write_bytes(log + log[-FRAME : -FRAME // 2])
    assert_all_there(*copy)


@pytest.mark.parametrize("damage", REFUSED.values(), ids=REFUSED)
def test_a_server_whose_acknowledged_writes_are_missing_refuses_to_start(
    copy: tuple[pathlib.Path, dict[str, int]], damage: Damage
) -> None:
    directory, _ = copy
    damage(directory)
    before = contents(directory / "data")
    refused = start(directory)
    assert refused.returncode == 1, refused
    assert "put the missing files back" in refused.stderr
    assert "crossply apiserver restore" in refused.stderr
    assert "crossply apiserver accept-loss" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert contents(directory / "data") == before, "what is refused is not changed"


def contents(directory: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != "lock"}


@pytest.mark.parametrize("seed", range(6))
def test_bytes_flipped_anywhere_in_the_log_never_cost_an_acknowledged_write(
    copy: tuple[pathlib.Path, dict[str, int]], seed: int
) -> None:
    directory, acknowledged = copy
    flip_anywhere(seed)(directory)
    if "put the missing files back" not in start_briefly(directory):
        assert_all_there(directory, acknowledged)


def start_briefly(directory: pathlib.Path) -> str:
    """Start a server that may refuse to start, and stop it; return its log."""
    server = Program(directory)
    assert (server.stop() if server.url else server.wait()) == (0 if server.url else 1)
    return server.log_text()


def test_a_database_that_was_lost_is_not_replaced_by_an_empty_one(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data") as server:
        server.create_map("kept")
    (tmp_path / "data" / "data" / "crossply.db").unlink()
    refused = start(tmp_path / "data")
    assert refused.returncode == 1
    assert "is missing, but the mark of its newest write is there" in refused.stderr


def test_a_loss_that_is_accepted_leaves_the_rest_and_moves_versions_forward(
    copy: tuple[pathlib.Path, dict[str, int]],
) -> None:
    directory, acknowledged = copy
    truncate_to(0.5)(directory)
    accepted = accept_loss(directory)
    assert accepted.returncode == 0, accepted.stderr
    assert "are lost; the server continues from version" in accepted.stdout
    newest = max(acknowledged.values())
    with Program(directory) as server:
        left = versions(server)
        assert 0 < len(left.keys() & acknowledged.keys()) < len(acknowledged)
        assert int(server.create_map("new").json["metadata"]["resourceVersion"]) > newest
        with server.watch(f"{CONFIG_MAPS}?watch=1&resourceVersion={newest}") as watch:
            assert [event["object"]["code"] for event in events(watch)] == [410], "who watched reads anew"
    copies = list((directory / "data").glob("before-loss-*/crossply.db-wal"))
    assert len(copies) == 1, "the files as they were"


def test_accepting_a_loss_where_nothing_is_missing_changes_nothing(
    copy: tuple[pathlib.Path, dict[str, int]],
) -> None:
    accepted = accept_loss(copy[0])
    assert (accepted.returncode, accepted.stdout) == (
        0,
        "no acknowledged write is missing: nothing was changed\n",
    )
    assert_all_there(*copy)


def test_a_loss_of_data_that_cannot_be_read_is_not_accepted(
    copy: tuple[pathlib.Path, dict[str, int]],
) -> None:
    database = copy[0] / "data" / "crossply.db"
    remove(copy[0])
    content = bytearray(database.read_bytes())
    content[8192:] = b"?" * (len(content) - 8192)
    database.write_bytes(content)
    refused = accept_loss(copy[0])
    assert refused.returncode == 1
    assert "the database is damaged" in refused.stderr
    assert "restore the newest backup" in refused.stderr
    assert list((copy[0] / "data").glob("before-loss-*")) == []


def test_a_server_that_is_killed_during_a_backup_starts_with_all_acknowledged_writes(
    tmp_path: pathlib.Path,
) -> None:
    server = Program(tmp_path / "data")
    acknowledged: dict[str, int] = {}
    write(server, "before", 60, acknowledged)
    command = [CROSSPLY, "apiserver", "backup", "--data", str(server.directory), str(tmp_path / "b.db")]
    backup = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while backup.poll() is None and not list(server.directory.glob("backup-*")):
        write(server, f"meanwhile{len(acknowledged)}", 6, acknowledged)
    server.kill()
    is_complete = backup.wait(60) == 0
    assert (tmp_path / "b.db").exists() == is_complete
    assert_all_there(server.directory, acknowledged)

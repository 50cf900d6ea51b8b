"""Encryption of stored objects: what is written to files, which key reads it, and how keys are rotated."""

from __future__ import annotations

import os
import pathlib

import apsw
import pytest

from crossply.apiserver.storage import (
    Encryption,
    EncryptionKey,
    Providers,
    ResourceGroup,
    StorageDamaged,
    StorageFull,
    Store,
    ValueCodec,
    accept_loss,
    reencrypt,
    restore,
)
from crossply.apiserver.storage.errors import EncryptionKeyMissing, EncryptionKeyWrong, PlainValueRefused
from crossply.apiserver.storage.schema import row_checksum
from tests.support.apiserver.disk_faults import FaultySystem
from tests.support.apiserver.stored_objects import create, delete, update, widget

CANARY = "canary-in-the-coal-mine"
OLD, NEW = EncryptionKey("old", bytes(range(32))), EncryptionKey("new", bytes(range(32, 64)))
SECRET = ("secrets", "default", "password")


def encrypting(*keys: EncryptionKey, plain: bool = True) -> Encryption:
    return Encryption([ResourceGroup(("secrets",), Providers(keys, keys[0], reads_plain=plain))])


def decrypting(*keys: EncryptionKey) -> Encryption:
    return Encryption([ResourceGroup(("secrets",), Providers(keys, None, reads_plain=True))])


def content(directory: str) -> dict[str, bytes]:
    """The files of a store, its lock aside."""
    paths = [path for path in pathlib.Path(directory).rglob("*") if path.is_file() and path.name != "lock"]
    return {str(path): path.read_bytes() for path in paths}


def is_anywhere(text: str, *places: str) -> bool:
    return any(text.encode() in data for place in places for data in content(place).values())


async def fill(directory: str, codec: ValueCodec | None = None) -> list[int]:
    """Write a Secret that is replaced, one that is deleted, and a widget; the revisions."""
    store = await (Store.open(directory, codec=codec) if codec else Store.open(directory))
    await create(store, SECRET, CANARY)
    await update(store, SECRET, f"{CANARY} again")
    await create(store, ("secrets", "default", "gone"), CANARY)
    await delete(store, ("secrets", "default", "gone"))
    await create(store, widget("open"), "in plain sight")
    revisions = [event.revision for event in store.events("secrets", 0)]
    await store.close()
    return revisions


async def read(directory: str, codec: ValueCodec) -> bytes:
    store = await Store.open(directory, codec=codec)
    try:
        entry = store.get(SECRET)
        assert entry is not None
        return entry.data
    finally:
        await store.close()


def change_rows(directory: str, statement: str, *values: object) -> None:
    """Edit the database directly, with valid checksums."""
    connection = apsw.Connection(f"{directory}/crossply.db")
    connection.execute(statement, values)
    for row in connection.execute("SELECT revision,resource,namespace,name,type,previous,value FROM log"):
        connection.execute("UPDATE log SET checksum = ? WHERE revision = ?", (row_checksum(*row), row[0]))
    connection.close()


async def test_without_a_key_everything_is_in_plain_text(directory: str) -> None:
    await fill(directory)
    assert is_anywhere(CANARY, directory)


async def test_with_a_key_no_file_has_the_content_of_a_secret(directory: str, tmp_path: pathlib.Path) -> None:
    store = await Store.open(directory, codec=encrypting(OLD))
    await create(store, SECRET, CANARY)
    await update(store, SECRET, f"{CANARY} again")
    await create(store, widget("open"), "in plain sight")
    await store.backup(str(tmp_path / "backup.db"))
    # The write-ahead log is there now, and gone when the store is closed.
    assert any(name.endswith("-wal") for name in content(str(tmp_path)))
    assert not is_anywhere(CANARY, str(tmp_path))
    assert is_anywhere("in plain sight", directory)
    await store.close()
    assert not is_anywhere(CANARY, str(tmp_path))
    assert CANARY.encode() in await read(directory, encrypting(OLD))


async def test_the_same_content_is_never_stored_as_the_same_bytes(directory: str) -> None:
    key, context = encrypting(OLD), ("secrets", "default", "a")
    stored = {key.encode(context, 7, b"{}") for _ in range(100)}
    assert len(stored) == 100
    assert {key.decode(context, 7, value) for value in stored} == {b"{}"}


@pytest.mark.parametrize(
    ("codec", "error"),
    [
        (None, EncryptionKeyMissing),
        (encrypting(NEW), EncryptionKeyMissing),
        (encrypting(EncryptionKey("old", bytes(32))), EncryptionKeyWrong),
    ],
    ids=["no key", "another key", "another key of the same name"],
)
async def test_a_start_without_the_right_key_is_refused_and_changes_nothing(
    directory: str, codec: ValueCodec | None, error: type[Exception]
) -> None:
    await fill(directory, encrypting(OLD))
    before = content(directory)
    with pytest.raises(error) as refused:
        await (Store.open(directory, codec=codec) if codec else Store.open(directory))
    assert content(directory) == before
    assert refused.value.hint  # type: ignore[attr-defined]
    assert CANARY.encode() in await read(directory, encrypting(OLD))


async def test_a_start_that_forgets_the_key_is_refused_before_the_first_secret_is_written(
    directory: str,
) -> None:
    store = await Store.open(directory, codec=encrypting(OLD))
    await store.close()
    with pytest.raises(EncryptionKeyMissing):
        await Store.open(directory)


async def test_a_value_cannot_be_moved_to_another_object(directory: str) -> None:
    store = await Store.open(directory, codec=encrypting(OLD))
    await create(store, ("secrets", "default", "mine"), "mine")
    await create(store, ("secrets", "theirs", "theirs"), CANARY)
    await store.close()
    change_rows(
        directory,
        "UPDATE log SET value = (SELECT value FROM log WHERE name = 'theirs') WHERE name = ?",
        "mine",
    )
    with pytest.raises(EncryptionKeyWrong):
        await Store.open(directory, codec=encrypting(OLD))


async def test_an_older_value_cannot_stand_in_for_a_newer_one(directory: str) -> None:
    revisions = await fill(directory, encrypting(OLD))
    change_rows(
        directory,
        "UPDATE log SET value = (SELECT value FROM log WHERE revision = ?) WHERE revision = ?",
        *revisions[:2],
    )
    with pytest.raises(EncryptionKeyWrong):
        await Store.open(directory, codec=encrypting(OLD))


async def test_damage_to_an_encrypted_value_is_detected_by_its_checksum(directory: str) -> None:
    await fill(directory, encrypting(OLD))
    path = pathlib.Path(directory, "crossply.db")
    data = bytearray(path.read_bytes())
    data[data.rindex(b"k8s:enc:aesgcm:v1:old:") + 40] ^= 1
    path.write_bytes(data)
    with pytest.raises(StorageDamaged, match="checksum"):
        await Store.open(directory, codec=encrypting(OLD))


async def test_turning_encryption_on_leaves_no_plain_text_and_keeps_history(directory: str) -> None:
    revisions = await fill(directory)
    assert is_anywhere(CANARY, directory)
    store = await Store.open(directory, codec=encrypting(OLD))
    assert store.rewritten == 5 - 1
    assert [event.revision for event in store.events("secrets", 0)] == revisions
    await store.close()
    assert not is_anywhere(CANARY, directory)
    assert reencrypt(directory, encrypting(OLD)).rewritten == 0


async def test_a_key_is_exchanged_and_the_old_one_is_not_needed_any_more(directory: str) -> None:
    revisions = await fill(directory, encrypting(OLD))
    done = reencrypt(directory, encrypting(NEW, OLD))
    assert (done.rewritten, done.objects) == (len(revisions), 2)
    assert not is_anywhere("aesgcm:v1:old:", directory)
    assert CANARY.encode() in await read(directory, encrypting(NEW, plain=False))


async def test_a_rotation_that_finds_no_space_leaves_everything_as_it_was(
    directory: str, disk: FaultySystem
) -> None:
    await fill(directory, encrypting(OLD))
    before = content(directory)[f"{directory}/crossply.db"]
    disk.fail_write = apsw.FullError
    with pytest.raises(StorageFull):
        await Store.open(directory, codec=encrypting(NEW, OLD))
    disk.fail_write = None
    assert content(directory)[f"{directory}/crossply.db"] == before
    assert not os.path.exists(f"{directory}/crossply.db.partial")
    assert CANARY.encode() in await read(directory, encrypting(NEW, OLD))


async def test_turning_encryption_off_needs_no_key_afterwards(directory: str) -> None:
    await fill(directory, encrypting(OLD))
    assert reencrypt(directory, decrypting(OLD)).rewritten == 4
    assert CANARY.encode() in await read(directory, decrypting())
    store = await Store.open(directory)
    await store.close()


async def test_plain_text_is_refused_where_no_provider_reads_it(directory: str) -> None:
    await fill(directory)
    before = content(directory)
    with pytest.raises(PlainValueRefused):
        await Store.open(directory, codec=encrypting(OLD, plain=False))
    assert content(directory) == before


async def test_a_restore_needs_the_key_and_encrypts_with_the_first_one(
    directory: str, tmp_path: pathlib.Path
) -> None:
    store = await Store.open(directory, codec=encrypting(OLD))
    await create(store, SECRET, CANARY)
    backup, restored = str(tmp_path / "backup.db"), str(tmp_path / "restored")
    await store.backup(backup)
    await store.close()
    with pytest.raises(EncryptionKeyMissing):
        restore(backup, restored)
    assert os.listdir(restored) == []
    restore(backup, restored, codec=encrypting(NEW, OLD))
    assert not is_anywhere("aesgcm:v1:old:", restored)
    assert CANARY.encode() in await read(restored, encrypting(NEW))


async def test_losses_are_accepted_without_a_key(directory: str) -> None:
    await fill(directory, encrypting(OLD))
    os.unlink(f"{directory}/crossply.db-mark")
    assert accept_loss(directory) is not None
    assert not is_anywhere(CANARY, directory)
    assert CANARY.encode() in await read(directory, encrypting(OLD))


@pytest.mark.parametrize(
    ("patterns", "resource", "is_encrypted"),
    [
        (("secrets",), "secrets", True),
        (("secrets",), "configmaps", False),
        (("secrets",), "secrets.example.org", False),
        (("*.example.org",), "widgets.example.org", True),
        (("*.example.org",), "widgets.other.example.org", False),
        (("*.",), "configmaps", True),
        (("*.",), "deployments.apps", False),
        (("*.*",), "configmaps", True),
        (("*.*",), "deployments.apps", True),
    ],
)
def test_resources_are_chosen_as_in_kubernetes(
    patterns: tuple[str, ...], resource: str, is_encrypted: bool
) -> None:
    codec = Encryption([ResourceGroup(patterns, Providers((OLD,), OLD, reads_plain=True))])
    stored = codec.encode((resource, "", "a"), 1, b"{}")
    assert stored.startswith(b"k8s:enc:aesgcm:v1:old:") is is_encrypted

"""Migrations are executed once, whole, and cannot leave their database."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from provider_local import sqlite_migrations
from provider_local.sqlite_migrations import MigrationRefused, applied_migrations, migrate

TABLE = "CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('Ada');"


def people(path: str) -> list[str]:
    connection = apsw.Connection(path)
    try:
        return [name for (name,) in connection.execute("SELECT name FROM people ORDER BY name")]
    finally:
        connection.close()


def test_each_migration_is_executed_once(tmp_path: Path) -> None:
    path = str(tmp_path / "app.db")
    migrate(path, [TABLE])
    migrate(path, [TABLE, "INSERT INTO people VALUES ('Grace')"])
    migrate(path, [TABLE, "INSERT INTO people VALUES ('Grace')"])
    assert people(path) == ["Ada", "Grace"]
    assert applied_migrations(path) == [TABLE, "INSERT INTO people VALUES ('Grace')"]


def test_a_migration_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "app.db")
    migrate(path, [TABLE])
    with pytest.raises(MigrationRefused, match=r"migration 2 failed: .*no such table: nobody"):
        migrate(path, [TABLE, "INSERT INTO people VALUES ('Grace'); INSERT INTO nobody VALUES (1)"])
    assert people(path) == ["Ada"]
    assert applied_migrations(path) == [TABLE]


@pytest.mark.parametrize(
    ("migrations", "message"),
    [([TABLE + " "], "migration 1 was changed"), ([], "migration 1 was executed and is no longer listed")],
)
def test_an_executed_migration_must_stay(tmp_path: Path, migrations: list[str], message: str) -> None:
    path = str(tmp_path / "app.db")
    migrate(path, [TABLE])
    with pytest.raises(MigrationRefused, match=message):
        migrate(path, migrations)


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH DATABASE '{outside}' AS other",
        "VACUUM INTO '{outside}'",
        "COMMIT; ATTACH DATABASE '{outside}' AS other",
        "SELECT load_extension('{outside}')",
        "PRAGMA temp_store_directory = '{outside}'",
        "PRAGMA journal_mode = WAL",
        "DELETE FROM crossply_migrations",
        "DROP TABLE crossply_migrations",
    ],
)
def test_sql_that_leaves_the_database_is_refused(tmp_path: Path, sql: str) -> None:
    path, outside = str(tmp_path / "app.db"), tmp_path / "outside"
    with pytest.raises(MigrationRefused, match="migration 1 failed: "):
        migrate(path, [sql.format(outside=outside)])
    assert not outside.exists()
    assert applied_migrations(path) == []


def test_sql_without_end_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_migrations, "_SECONDS", 0.2)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(MigrationRefused, match="takes longer"):
        migrate(str(tmp_path / "app.db"), [endless])


def test_a_symbolic_link_is_no_database(tmp_path: Path) -> None:
    migrate(str(tmp_path / "real.db"), [TABLE])
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    with pytest.raises(apsw.CantOpenError):
        applied_migrations(str(tmp_path / "link.db"))

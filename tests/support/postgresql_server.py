"""A real PostgreSQL server for tests, started by the script that users have for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support.paths import ROOT
from tests.support.ports import free_port

SCRIPT = ROOT / "providers" / "postgresql" / "examples" / "server.sh"
OPTIONS = (
    "-c fsync=off -c full_page_writes=off -c shared_buffers=32MB -c max_connections=60 "
    "-c log_statement=all -c log_min_messages=warning -c log_line_prefix=@%a:%p@"
)
_LINE = re.compile(
    r"@crossply-provider-postgresql:(\d+)@(?:LOG:  (?:statement|execute [^:]*): (.*)|(ERROR|FATAL):  .*)"
)


class PostgresServer:
    """One server that logs every statement."""

    def __init__(self, directory: Path, port: int) -> None:
        self._directory = directory
        self.port = port

    host = "127.0.0.1"
    username = "admin"

    @property
    def password(self) -> str:
        return (self._directory / "password").read_text()

    @property
    def log(self) -> str:
        return (self._directory / "log").read_text()

    @property
    def connection_secret(self) -> dict[str, str]:
        """The keys of a Secret for a ProviderConfig."""
        return {
            "endpoint": self.host,
            "port": str(self.port),
            "username": self.username,
            "password": self.password,
        }

    def start(self) -> None:
        environment = {**os.environ, "POSTGRES_OPTIONS": OPTIONS}
        command = ["sh", str(SCRIPT), "start", str(self._directory), str(self.port)]
        subprocess.run(command, env=environment, check=True, capture_output=True)

    def stop(self) -> None:
        subprocess.run(["sh", str(SCRIPT), "stop", str(self._directory)], check=True, capture_output=True)

    def connect(
        self, database: str = "postgres", username: str = "", password: str = ""
    ) -> psycopg.Connection:
        """A connection in autocommit mode; as the administrator by default."""
        return psycopg.connect(
            host=self.host,
            port=self.port,
            user=username or self.username,
            password=password or self.password,
            dbname=database,
            autocommit=True,
        )

    def query(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Execute a statement as the administrator; its rows, if it has any."""
        with self.connect(database) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def can_log_in(self, username: str, password: str, database: str = "postgres") -> bool:
        try:
            self.connect(database, username, password).close()
        except psycopg.OperationalError:
            return False
        return True

    def names(self) -> set[str]:
        """All roles and databases but those that every server has."""
        rows = self.query("SELECT rolname FROM pg_roles UNION ALL SELECT datname FROM pg_database")
        names = {str(name) for (name,) in rows}
        return {
            name
            for name in names - {"postgres", "template0", "template1", self.username}
            if not name.startswith("pg_")
        }

    def statements(self) -> list[str]:
        """What the provider had executed, in order."""
        return [statement for _, statement, _ in _LINE.findall(self.log) if statement]

    def successful_statements(self) -> list[str]:
        """Those of them that the server did not refuse."""
        lines = _LINE.findall(self.log)
        successful = []
        for index, (process, statement, _) in enumerate(lines):
            answer = next((line for line in lines[index + 1 :] if line[0] == process), ("", "", ""))
            if statement and not answer[2]:
                successful.append(statement)
        return successful


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """A server with an empty data directory, which is stopped and removed at the end."""
    # Not below pytest's directory: the server's user may not enter that one.
    directory = Path(tempfile.mkdtemp(prefix="crossply-postgresql-"))
    server = PostgresServer(directory, free_port())
    try:
        server.start()
        try:
            yield server
        finally:
            subprocess.run(["sh", str(SCRIPT), "stop", str(directory)], capture_output=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)

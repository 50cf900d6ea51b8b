"""Files in memory: all that a confined process can read by path, with real system calls."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.functions.builtin.sandbox.confinement import filter_program
from crossply.functions.builtin.sandbox.pool import Pool
from crossply.functions.builtin.sandbox.virtual_files import VirtualFiles

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or filter_program(os.uname().machine) is None,
    reason="NOT TESTED: there are files in memory on Linux only, on x86-64 and ARM64",
)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    here = str(Path(__file__).parent)
    sys.path.insert(0, here)
    new_pool = Pool("librarian")
    new_pool.ask(b"said = 1", b"")
    sys.path.remove(here)
    yield new_pool
    new_pool.close()


def reply(pool: Pool, statements: str) -> str:
    return pool.ask(statements.encode(), b"").decode()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("open('/books/one.txt').read()", "first"),
        ("len(open('/books/deep/two.txt', 'rb').read())", "60000"),
        ("[open('/three').read() for _ in range(1000)][-1]", ""),
        ("open('books/deep/../one.txt').read()", "first"),
        ("sorted(os.listdir('/books'))", "['deep', 'one.txt']"),
        ("[(p, d, f) for p, d, f in os.walk('/books')][1]", "('/books/deep', [], ['two.txt'])"),
        ("os.stat('/books/one.txt').st_size", "5"),
        ("os.path.isdir('/books'), os.path.isfile('/three'), os.path.exists('/etc')", "(True, True, False)"),
        ("os.path.realpath('/books/./deep')", "/books/deep"),
        ("os.getcwd()", "/"),
        ("os.access('/three', os.R_OK), os.access('/three', os.W_OK)", "(True, False)"),
        ("(lambda f: (f.seek(2), f.read(), f.tell()))(open('/books/one.txt'))", "(2, 'rst', 5)"),
    ],
)
def test_a_confined_process_reads_its_files(pool: Pool, expression: str, expected: str) -> None:
    assert reply(pool, f"said = {expression}") == expected


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("open('/etc/passwd')", "FileNotFoundError"),
        ("open('/proc/self/environ')", "FileNotFoundError"),
        ("open('/books/../../etc/passwd')", "FileNotFoundError"),
        ("open('/books/one.txt', 'w')", "OSError: [Errno 30]"),
        ("open('/new', 'x')", "OSError: [Errno 30]"),
        ("os.open('/books/one.txt', os.O_DIRECTORY)", "NotADirectoryError"),
        ("os.read(os.open('/books', 0), 1)", "IsADirectoryError"),
        ("os.write(os.open('/three', 0), b'x')", "OSError: [Errno 9]"),
        ("os.read(5000, 1)", "OSError: [Errno 9]"),
        ("os.listdir('/three')", "NotADirectoryError"),
        ("os.readlink('/three')", "OSError: [Errno 22]"),
        ("files = [os.open('/three', 0) for _ in range(300)]", "OSError: [Errno 24]"),
        ("os.unlink('/three')", "PermissionError"),
        ("os.mkdir('/more')", "PermissionError"),
        ("socket.socket()", "PermissionError"),
        ("os.fork()", "PermissionError"),
        ("subprocess.run(['true'])", "Error"),
    ],
)
def test_nothing_else_is_there_and_nothing_can_be_changed(pool: Pool, statement: str, error: str) -> None:
    assert error in reply(pool, statement)
    assert reply(pool, "said = open('/books/one.txt').read()") == "first"


def test_a_directory_is_listed_in_parts_of_any_size() -> None:
    files = VirtualFiles({f"/d/{number:03}": b"" for number in range(100)})
    descriptor = files.open("/d", os.O_DIRECTORY)
    assert files.list(descriptor, 8) == -22
    listed = b""
    while part := files.list(descriptor, 64):
        assert isinstance(part, bytes)
        assert len(part) <= 64
        listed += part
    assert len(listed) == 100 * 24
    assert files.close(descriptor) == 0
    assert files.close(descriptor) == -9

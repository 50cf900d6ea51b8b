"""`crossply version`."""

from __future__ import annotations

from crossply.cli.main import main
from crossply.version import __version__


def test_the_client_version_is_one_line(capsys) -> None:
    assert main(["version", "--client"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"Client Version: v{__version__}\n"
    assert printed.err == ""


def test_without_the_flag_it_says_that_no_server_was_asked(capsys) -> None:
    assert main(["version"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"Client Version: v{__version__}\n"
    assert "server's version is not looked up" in printed.err

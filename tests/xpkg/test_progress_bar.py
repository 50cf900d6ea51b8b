"""On a terminal a line shows how far a pull or push is; elsewhere nothing is written."""

from __future__ import annotations

import io

from crossply.xpkg.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def play(stream: io.StringIO) -> str:
    times = iter(range(100))
    with ProgressBar(stream, "pulling x", lambda: float(next(times))) as bar:
        bar.expect(4_000_000)
        bar.moved(1_000_000)
        bar.moved(3_000_000)
    return stream.getvalue()


def test_a_terminal_sees_the_line_and_then_nothing_of_it() -> None:
    drawn = play(Terminal())
    assert f"pulling x {'━' * 7}{' ' * 23}  25% 1.0/4.0 MB" in drawn
    assert "100% 4.0/4.0 MB" in drawn
    assert drawn.endswith("\r\033[K")


def test_a_file_sees_nothing() -> None:
    assert play(io.StringIO()) == ""

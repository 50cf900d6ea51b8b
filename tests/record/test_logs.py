"""Logs: lines that carry their run, that nothing can break, and that are never too many."""

from __future__ import annotations

import asyncio
import io
import json
import logging

import pytest

from crossply.errors import CrossplyError
from crossply.kube.controller import log_failure
from crossply.record.control_plane_metrics import LINES_DROPPED
from crossply.record.logs import BURST, LONGEST, PAUSE, LineFormatter, LineLimit
from crossply.record.run_context import current, running

LOGGER = logging.getLogger("crossply.test")


@pytest.fixture
def written():
    """What is logged as JSON: `written()` gives the lines so far, `written.clock` is the limit's clock."""
    yield from _logging("json")


@pytest.fixture
def plain():
    """What is logged as logfmt."""
    yield from _logging("logfmt")


def _logging(style: str):
    stream, logger = io.StringIO(), logging.getLogger("crossply")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(style))
    clock = [0.0]
    handler.addFilter(LineLimit(lambda: clock[0]))
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.DEBUG)

    def lines():
        texts = stream.getvalue().splitlines()
        return [json.loads(text) for text in texts] if style == "json" else texts

    lines.clock = clock
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(level)


def test_a_line_within_a_run_names_the_run(written) -> None:
    with running("composite/dbs.example.org", "Db", "team", "mine") as run:
        LOGGER.info("hello %s", "you")
    line = written()[0]
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "crossply.test",
        "msg": "hello you",
        "controller": "composite/dbs.example.org",
        "xr": "Db team/mine",
        "run": run.id,
    }


@pytest.mark.parametrize(
    ("controller", "word", "why"),
    [
        ("composite/dbs", "xr", "a composite resource"),
        ("claim/dbs", "claim", "a claim"),
        ("defined/xrd", "object", "anything else"),
    ],
)
def test_the_object_is_labelled_by_its_kind(written, controller, word, why) -> None:
    with running(controller, "Db", "", "mine"):
        LOGGER.info("hello")
    assert written()[0][word] == "Db mine", why


def test_a_line_outside_of_runs_has_no_run(plain) -> None:
    LOGGER.warning("hello")
    assert plain()[0].endswith(" level=warning logger=crossply.test msg=hello")


async def test_concurrent_runs_do_not_mix_and_extend_into_tasks_and_threads(written) -> None:
    async def inner() -> None:
        LOGGER.info("in a task")
        await asyncio.to_thread(LOGGER.info, "in a thread")

    async def run_one(name: str) -> None:
        with running("composite/dbs", "Db", "", name):
            await asyncio.gather(inner(), inner())

    await asyncio.gather(run_one("a"), run_one("b"))
    assert current() is None
    runs = {(line["xr"], line["run"]) for line in written()}
    assert {xr for xr, _ in runs} == {"Db a", "Db b"}
    assert len(runs) == 2
    assert len(written()) == 8


@pytest.mark.parametrize("style", ["json", "logfmt"])
def test_a_client_cannot_forge_a_line_or_a_field(style) -> None:
    record = LOGGER.makeRecord(
        "n", 20, "", 0, 'a\nlevel=error msg="forged" \x1b[31m\x9b31m\x7f\x85\u2028b', (), None
    )
    line = LineFormatter(style).format(record)
    assert len(line.splitlines()) == 1
    assert not {"\x1b", "\x9b", "\x7f"} & set(line)
    if style == "json":
        assert json.loads(line)["level"] == "info"
    else:
        assert ' msg="a\\nlevel=error msg=\\"forged\\"' in line


@pytest.mark.parametrize("style", ["json", "logfmt"])
@pytest.mark.parametrize(
    ("message", "arguments", "why"),
    [
        ("lone \ud800 surrogate", (), "cannot be encoded"),
        ("%d of %d", ("one",), "arguments that do not fit"),
        ("x" * 1_000_000, (), "far too long"),
    ],
)
def test_every_record_becomes_one_line(style, message, arguments, why) -> None:
    record = LOGGER.makeRecord("n", 20, "", 0, message, arguments, None)
    line = LineFormatter(style).format(record)
    assert "\n" not in line, why
    assert len(line.encode()) < 2 * LONGEST


def test_an_exception_is_in_its_line(written) -> None:
    try:
        raise ValueError("oh")
    except ValueError:
        LOGGER.exception("failed")
    assert written()[0]["exception"].endswith("ValueError: oh")


def test_a_failure_of_ten_thousand_composite_resources_does_not_flood_the_log(written) -> None:
    """Promise: log-flood."""
    before = LINES_DROPPED.of("warning").value
    for index in range(10_000):
        with running("composite/dbs", "Db", "team", f"db-{index}") as run:
            log_failure(run, CrossplyError(f"function is down, says db-{index}"))
    assert len(written()) == BURST
    assert LINES_DROPPED.of("warning").value == before + 10_000 - BURST
    written.clock[0] += PAUSE
    with running("composite/dbs", "Db", "team", "db-0") as run:
        log_failure(run, CrossplyError("still down"))
    last = written()[-1]
    assert last["held_back"] == 10_000 - BURST
    assert (last["code"], last["error"], last["xr"]) == ("CP-100", "still down", "Db team/db-0")


def test_a_flood_of_one_controller_does_not_silence_another_nor_another_error(written) -> None:
    class Other(CrossplyError):
        code = "CP-199"

    for _ in range(100):
        with running("composite/dbs", "Db", "", "a") as run:
            log_failure(run, CrossplyError("down"))
    with running("composite/nets", "Net", "", "b") as run:
        log_failure(run, CrossplyError("down"))
    with running("composite/dbs", "Db", "", "a") as run:
        log_failure(run, Other("something else"))
    assert [line["xr"] for line in written()[BURST:]] == ["Net b", "Db a"]


def test_requested_debug_lines_are_not_suppressed(written) -> None:
    for index in range(10 * BURST):
        LOGGER.debug("line %s", index)
    assert len(written()) == 10 * BURST

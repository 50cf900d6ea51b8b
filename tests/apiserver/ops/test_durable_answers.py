"""No response reports a write that a failing disk rolls back, not even a refusal."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import apsw
import pytest

from crossply.apiserver.http.limits import Limits
from tests.support.apiserver.disk_faults import FaultySystem, faulty_system
from tests.support.apiserver.servers import CONFIG_MAPS, Answer, Threaded, config_map

PATH = f"{CONFIG_MAPS}/one"
APPLY = f"{PATH}?fieldManager=test&force=true"
APPLY_TYPE = {"Content_Type": "application/apply-patch+yaml"}
Ask = Callable[[Threaded], Answer]


@pytest.fixture
def disk() -> Iterator[FaultySystem]:
    with faulty_system() as system:
        yield system


class Asking(threading.Thread):
    """A request that is under way."""

    def __init__(self, server: Threaded, ask: Ask) -> None:
        super().__init__()
        self._server, self._ask = server, ask
        self.answer: Answer | None = None
        self.start()

    def run(self) -> None:
        self.answer = self._ask(self._server)


def _create(server: Threaded) -> Answer:
    return server.create_map("one", by="second")


def _update(server: Threaded) -> Answer:
    body = config_map("one", by="first")
    return server.ask("PUT", PATH, body)


def _update_existing(server: Threaded) -> Answer:
    known = server.ask("GET", PATH).json
    return server.ask("PUT", PATH, known | {"data": {"by": "second"}})


def _delete(server: Threaded) -> Answer:
    return server.ask("DELETE", PATH)


def _apply(server: Threaded) -> Answer:
    return server.ask("PATCH", APPLY, config_map("one", by="first"), **APPLY_TYPE)


CASES: list[Any] = [
    pytest.param(None, _create, _create, id="already exists"),
    pytest.param(_create, _update, _update_existing, id="conflict"),
    pytest.param(_create, _delete, _delete, id="not found"),
    pytest.param(None, _apply, _apply, id="nothing to change"),
]


@pytest.mark.parametrize(("before", "first", "second"), CASES)
def test_a_response_about_a_failing_write_is_not_sent(
    tmp_path: pathlib.Path, disk: FaultySystem, before: Ask | None, first: Ask, second: Ask
) -> None:
    with Threaded(tmp_path / "data", Limits(), in_memory=False) as server:
        if before is not None:
            assert before(server).status == 201
        disk.may_sync.clear()
        one = Asking(server, first)
        _wait_for_pending_write(server)
        other = Asking(server, second)
        other.join(1)  # long enough for an answer that waits for nothing
        disk.fail_sync = apsw.IOError
        disk.may_sync.set()
        one.join()
        other.join()
        disk.fail_sync = None
        assert one.answer is not None
        assert other.answer is not None
        assert (one.answer.status, other.answer.status) == (500, 500)
        assert server.ask("GET", PATH).status == (200 if before is not None else 404)


@pytest.mark.parametrize(("before", "first", "second"), CASES)
def test_a_response_about_a_write_is_true_for_every_later_read(
    tmp_path: pathlib.Path, disk: FaultySystem, before: Ask | None, first: Ask, second: Ask
) -> None:
    with Threaded(tmp_path / "data", Limits(), in_memory=False) as server:
        if before is not None:
            before(server)
        disk.may_sync.clear()
        one = Asking(server, first)
        _wait_for_pending_write(server)
        observed: list[str | None] = []
        other = Asking(server, lambda server: _then_read(server, second, observed))
        other.join(1)
        disk.may_sync.set()
        one.join()
        other.join()
        assert observed == [_writer(server)]


def _then_read(server: Threaded, ask: Ask, observed: list[str | None]) -> Answer:
    answer = ask(server)
    observed.append(_writer(server))
    return answer


def _writer(server: Threaded) -> str | None:
    """The writer of the object; None where there is none."""
    answer = server.ask("GET", PATH)
    return answer.json["data"]["by"] if answer.status == 200 else None


def _wait_for_pending_write(server: Threaded) -> None:
    async def is_pending() -> bool:
        key = ("configmaps", "default", "one")
        return server.store.latest(key) is not server.store.get(key)

    while not server.run(is_pending()):
        pass

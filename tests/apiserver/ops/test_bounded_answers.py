"""The list of errors of a request is bounded: in the response, in its headers and in the audit log."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest

from crossply.apiserver.endpoints.replies import warning_headers
from tests.support.apiserver.servers import CONFIG_MAPS, Program, config_map


@pytest.fixture
def server(tmp_path: pathlib.Path) -> Iterator[Program]:
    with Program(tmp_path / "data", "--audit-log", str(tmp_path / "audit.log")) as program:
        yield program


def test_many_faults_are_cut_in_the_answer_and_in_the_audit_log(
    server: Program, tmp_path: pathlib.Path
) -> None:
    body = config_map("many")
    body["metadata"]["finalizers"] = ["!" * 40 + str(number) for number in range(1000)]
    answer = server.ask("POST", f"{CONFIG_MAPS}?dryRun=All", body)
    assert answer.status == 422
    assert len(answer.body) < 300_000
    causes = answer.json["details"]["causes"]
    assert len(causes) <= 101
    assert causes[-1]["message"] == "there are more errors, which are not listed"
    assert "metadata.finalizers" in answer.message
    server.stop()
    logged = [line for line in (tmp_path / "audit.log").read_bytes().splitlines() if b"dryRun" in line]
    assert len(logged) == 1
    assert len(logged[0]) < 10_000
    assert json.loads(logged[0])["responseStatus"]["code"] == 422


def test_one_long_fault_is_cut(server: Program) -> None:
    answer = server.ask("POST", CONFIG_MAPS, config_map("x" * 500_000))
    assert (answer.status, len(answer.body) < 200_000) == (422, True)
    assert "more characters" in answer.message


def test_warnings_are_cut_as_in_kubernetes() -> None:
    few = [f"warning {number}" for number in range(10)]
    assert len(warning_headers([*few, few[0], ""])) == 10
    long = ["a" * 4096]
    assert warning_headers(long) == ['299 - "' + "a" * 4096 + '"']
    many = [str(number).zfill(300) for number in range(100)]
    cut = warning_headers(many)
    assert len(cut) == 16
    assert cut[0] == '299 - "' + many[0][:256] + '"'


def test_a_client_can_read_the_answer_to_a_request_with_many_unknown_fields(server: Program) -> None:
    body = {**config_map("odd"), **{f"unknown{number}": number for number in range(5000)}}
    answer = server.ask("POST", f"{CONFIG_MAPS}?fieldValidation=Warn", body)
    assert answer.status == 201
    assert sum(map(len, answer.headers.get_all("Warning"))) < 10_000

"""A function under development: a call always runs the current files."""

from __future__ import annotations

import logging
import sys
import threading
import time

import pytest

from crossply.functions.local_process import LocalProcess
from crossply.functions.source_watcher import SourceFiles
from tests.support.function_servers import REQUEST

SERVER = """
import os, grpc, pathlib, time
from concurrent import futures
from crossply.compose.function_messages import Result, respond
from crossply.compose.wire_codec import decode_request, encode_response
import words
class Methods(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(answer)
def answer(data, context):
    time.sleep(words.PAUSE)
    return encode_response(respond(decode_request(data), results=(Result(3, words.SAID),)))
server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Methods()])
server.add_insecure_port(os.environ["CROSSPLY_FUNCTION_ADDRESS"])
server.start()
server.wait_for_termination()
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "main.py").write_text(SERVER)
    (tmp_path / "words.py").write_text("SAID, PAUSE = 'before', 0")
    return tmp_path


@pytest.fixture
def runner(project):
    process = LocalProcess("f", f"{sys.executable} {project}/main.py")
    yield process
    process.close()


def message_from(runner):
    return runner(REQUEST, 30.0).results[0].message


def until(runner, word):
    for _ in range(200):
        if message_from(runner) == word:
            return
        time.sleep(0.02)
    raise AssertionError(f"the function never said {word}")


def test_a_function_is_restarted_when_a_file_beside_it_changes(project, runner, caplog):
    assert message_from(runner) == "before"
    (project / "words.py").write_text("SAID, PAUSE = 'after', 0")
    with caplog.at_level(logging.WARNING, "crossply.functions"):
        until(runner, "after")
    assert [line.getMessage() for line in caplog.records] == [
        f'Function "f": {project}/words.py changed, so its process is restarted'
    ]


def test_a_running_call_finishes_on_the_old_files(project, runner):
    (project / "words.py").write_text("SAID, PAUSE = 'slow', 2")
    answers = []
    slow = threading.Thread(target=lambda: answers.append(message_from(runner)))
    slow.start()
    while runner._started is None:
        time.sleep(0.01)
    first = runner._started._process
    (project / "words.py").write_text("SAID, PAUSE = 'quick', 0")
    until(runner, "quick")
    slow.join(30)
    assert answers == ["slow"]
    assert first.poll() is not None, "what was replaced ends with its last call"


@pytest.mark.parametrize(
    ("words", "changed", "expected"),
    [
        (["python", "{0}/main.py"], "sub/other.py", True),
        (["python", "{0}/main.py"], ".hidden", False),
        (["python", "{0}/main.py"], "__pycache__/main.pyc", False),
        (["{0}/main.py", "--flag"], "main.py", True),
        (["{0}/main.py", "--flag"], "words.py", False),
        (["python", "-m", "module"], "main.py", False),
    ],
    ids=["below it", "hidden", "compiled", "the program", "beside a program", "no file named"],
)
def test_which_files_belong_to_a_command(project, words, changed, expected):
    now = [0.0]
    files = SourceFiles([word.format(project) for word in words], lambda: now[0])
    path = project / changed
    path.parent.mkdir(exist_ok=True)
    path.write_text("something new")
    now[0] = 10.0
    assert bool(files.changed()) is expected


def test_files_are_not_checked_on_every_call(project):
    files = SourceFiles(["python", f"{project}/main.py"], lambda: 0.0)
    (project / "main.py").write_text("changed")
    assert files.changed() == ""

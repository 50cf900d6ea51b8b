"""Confined workers: what the walls hold, and that one program never harms another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin import load
from crossply.functions.builtin.sandbox.confinement import filter_program
from crossply.functions.builtin.sandbox.limit_constants import MAX_REPLY, MEMORY
from crossply.functions.builtin.sandbox.pool import Pool, ProgramError

LINUX = pytest.mark.skipif(
    sys.platform != "linux" or filter_program(os.uname().machine) is None,
    reason="NOT TESTED: system calls are filtered on Linux only, on x86-64 and ARM64",
)
GENEROUS = 40.0


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    here = str(Path(__file__).parent)
    sys.path.insert(0, here)
    new_pool = Pool("outlaw")
    new_pool.ask(b"said = 1", b"")
    sys.path.remove(here)
    yield new_pool
    new_pool.close()


def reply(pool: Pool, statements: str, question: bytes = b"") -> str:
    return pool.ask(statements.encode(), question).decode()


@LINUX
@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("open('/etc/passwd')", "reading a file"),
        ("open('/tmp/outlaw', 'w')", "writing one"),
        ("os.listdir('/')", "a directory"),
        ("os.stat('/')", "asking for a file"),
        ("os.unlink('/tmp/outlaw')", "removing one"),
        ("os.open('/proc/self/environ', 0)", "the environment"),
        ("socket.socket()", "a connection"),
        ("socket.socket(socket.AF_UNIX)", "on the machine, too"),
        ("socket.socketpair()", "even to itself"),
        ("socket.getaddrinfo('localhost', 80)", "a name"),
        ("os.pipe()", "a pipe"),
        ("os.dup(0)", "another descriptor"),
        ("os.fork()", "a process"),
        ("subprocess.run(['true'])", "another program"),
        ("os.execv('/bin/true', ['true'])", "instead of this one"),
        ("os.posix_spawn('/bin/true', ['true'], {})", "in any way"),
        ("threading.Thread(target=print).start()", "a thread"),
        ("os.kill(os.getppid(), 9)", "killing the nursery"),
        ("os.kill(1, 0)", "or anybody"),
        ("os.setuid(0)", "being somebody else"),
        ("os.chroot('/')", "being elsewhere"),
        ("resource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "raising its limits"),
        ("os.memfd_create('x')", "a file in memory"),
        ("os.sched_setaffinity(0, [0])", "choosing a processor"),
    ],
)
def test_the_kernel_refuses_more_than_computing(pool: Pool, statement: str, reason: str) -> None:
    assert "Error" in reply(pool, statement), reason
    assert reply(pool, "said = os.getpid() > 0") == "True"


@LINUX
def test_machine_code_gets_no_further_than_python(pool: Pool) -> None:
    calls = ("open(b'/etc/passwd', 0)", "socket(2, 1, 0)", "fork()", "ptrace(0, 0, 0, 0)", "unshare(0)")
    for name in calls:
        statement = f"said = ctypes.CDLL(None, use_errno=True).{name}, ctypes.get_errno()"
        assert reply(pool, statement) in ("(-1, 1)", "(-1, 24)"), name


def test_a_worker_begins_with_nothing_of_its_parent(pool: Pool) -> None:
    os.environ["OUTLAW_SECRET"] = "secret"
    try:
        fresh = Pool("outlaw")
        sys.path.insert(0, str(Path(__file__).parent))
        assert reply(fresh, "said = dict(os.environ)") in ("{}", str({"LC_CTYPE": "C.UTF-8"}))
        fresh.close()
    finally:
        sys.path.pop(0)
        del os.environ["OUTLAW_SECRET"]
    loaded = "said = [name for name in sys.modules if name.startswith('crossply.control')]"
    assert reply(pool, loaded) == "[]"


def test_memory_is_bounded_and_the_worker_lives_on_where_it_can(pool: Pool) -> None:
    assert reply(pool, "x = bytes(1 << 40)") == "MemoryError: "
    assert reply(pool, f"x = bytes({MEMORY * 2})") == "MemoryError: "
    assert reply(pool, f"x = bytes({MEMORY // 2}); said = len(x)") == str(MEMORY // 2)


@LINUX
def test_a_worker_that_used_much_memory_answers_and_is_replaced(pool: Pool) -> None:
    large = f"x = bytearray({MEMORY * 2 // 3}); said = os.getpid()"
    assert reply(pool, large) != reply(pool, large)
    refused = f"x = bytearray({MEMORY * 2 // 3}); said = 'x' * ({MAX_REPLY} + 1)"
    for _ in range(2):
        with pytest.raises(ProgramError, match="answer is longer"):
            reply(pool, refused)


def test_an_answer_that_is_too_long_is_refused(pool: Pool) -> None:
    with pytest.raises(ProgramError, match="answer is longer than 16 MiB"):
        reply(pool, f"said = 'x' * ({MAX_REPLY} + 1)")


@pytest.mark.parametrize("statement", ["os._exit(0)", "ctypes.string_at(0)", "os.abort()", "sys.exit(1)"])
def test_a_program_that_ends_its_worker_ends_only_that(pool: Pool, statement: str) -> None:
    with pytest.raises(ProgramError, match="ended its process"):
        reply(pool, statement)
    with pytest.raises(ProgramError, match="ended its process"):
        reply(pool, statement)
    assert reply(pool, "said = 1") == "1"


def test_programs_do_not_share_a_process_and_calls_of_one_do(pool: Pool) -> None:
    first = {reply(pool, "said = os.getpid()") for _ in range(3)}
    assert len(first) == 1
    assert reply(pool, "said = os.getpid() # another") not in first


def test_workers_are_bounded_and_idle_ones_are_evicted() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    small = Pool("outlaw", max_workers=2)
    try:
        numbers = [reply(small, f"said = os.getpid() # {index}") for index in range(4)]
        assert len(set(numbers)) == 4
        assert reply(small, "said = os.getpid() # 3") == numbers[3]
        assert reply(small, "said = os.getpid() # 0") != numbers[0]
    finally:
        small.close()
        sys.path.pop(0)


def test_many_threads_ask_at_once(pool: Pool) -> None:
    def one(index: int) -> bool:
        return reply(pool, f"said = question.decode() * {index % 3 + 1}", b"ab") == "ab" * (index % 3 + 1)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(one, range(60)))


def test_a_nursery_that_dies_is_replaced() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    fragile = Pool("outlaw")
    try:
        before = reply(fragile, "said = os.getpid()")
        zygote = fragile._zygote
        assert zygote is not None
        os.kill(zygote._process.pid, signal.SIGKILL)
        zygote._process.wait(GENEROUS)
        assert reply(fragile, "said = 'new'") == "new"
        assert reply(fragile, "said = os.getpid()") == before
    finally:
        fragile.close()
        sys.path.pop(0)


ASKING = """
import sys, time
sys.path.insert(0, sys.argv[1])
from crossply.functions.builtin.sandbox.pool import Pool
pool = Pool("outlaw")
print(pool.ask(b"said = os.getpid()", b"").decode(), pool._zygote._process.pid, flush=True)
pool.ask(b"while True: pass", b"")
"""


@LINUX
def test_no_process_is_left_when_the_parent_is_killed() -> None:
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", ASKING, here]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker, zygote = map(int, parent.stdout.readline().split())
        time.sleep(0.2)
        parent.kill()
    deadline = time.monotonic() + GENEROUS
    while _runs(worker) or _runs(zygote):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(number: int) -> bool:
    """Whether a process runs, and is not a zombie."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


ENDLESS = {
    "starlark": (
        "def main(req):\n    for i in range(1000000000):\n"
        "        for j in range(1000000000):\n            pass\n",
        "takes longer than 10 seconds",
    ),
    "kcl": (
        "f = lambda n: int -> int {\n    1 if n < 2 else f(n - 1) + f(n - 2)\n}\nitems = [f(60)]",
        "the program takes longer than 10 seconds",
    ),
    "python": (
        "def compose(req, rsp):\n    x = 1\n    while x:\n        x += 1\n",
        "in compose: takes longer than 10 seconds",
    ),
    "python that does not give up": (
        "def compose(req, rsp):\n    while True:\n        try:\n            for _ in iter(int, 1):\n"
        "                len('a')\n        except BaseException:\n            continue\n",
        "takes longer than 10 seconds",
    ),
    "python that sleeps": (
        "import time\ndef compose(req, rsp):\n    time.sleep(1000)\n",
        "script:3, in compose",
    ),
    "python that is not built that way": (
        "import re\ndef compose(req, rsp):\n    re.match('(a+)+$', 'a' * 100 + '!')\n",
        "takes longer than 10 seconds",
    ),
    "pythonic": (
        "class C(BaseComposite):\n    def compose(self):\n"
        "        while True:\n            self.status.a = self.spec\n",
        "Compose exception: takes longer than 10 seconds (composite:4, in compose)",
    ),
    "pythonic that reads YAML that multiplies itself": (
        "class C(BaseComposite):\n    def compose(self):\n        text = 'a: &a0 [x]\\n'\n"
        "        for i in range(30):\n"
        "            text += f'b{i}: &a{i + 1} [' + ', '.join([f'*a{i}'] * 10) + ']\\n'\n"
        "        self.status.x = Yaml(text)\n",
        "Compose exception: takes ",
    ),
    "python that prints for ever": (
        "class E(Exception):\n    def __str__(self):\n        while True: len('a')\n"
        "def compose(req, rsp):\n    raise E\n",
        "takes longer than 10 seconds",
    ),
}


def test_starlark_loop_endless_programs_are_stopped_and_others_go_on() -> None:
    """All at once, to wait only once."""
    messages: dict[str, str] = {}

    def run(name: str) -> None:
        function = load(name.split()[0])
        program = ENDLESS[name][0]
        inputs = {"kcl": {"spec": {"source": program}}, "pythonic": {"composite": program}}
        input_ = inputs.get(name.split()[0], {"script": program})
        request = Request(State(Resource({"a": "b"})), input=input_, tag="t")
        messages[name] = function(request).results[0].message

    start = time.monotonic()
    threads = [threading.Thread(target=run, args=(name,)) for name in ENDLESS]
    for thread in threads:
        thread.start()
    fine = "def compose(req, rsp):\n    rsp.output['fine'] = True\n"
    answer = load("python")(Request(State(Resource({})), input={"script": fine}, tag="t"))
    assert answer.output == {"fine": True}
    for thread in threads:
        thread.join(GENEROUS)
    assert time.monotonic() - start < GENEROUS
    for name, (_, error) in ENDLESS.items():
        assert error in messages[name], name


def test_an_unexpected_error_of_a_language_is_reported_by_its_name(pool: Pool) -> None:
    with pytest.raises(ProgramError, match="cannot be run: SyntaxError: '\\(' was never closed"):
        pool.ask(b"said = (", b"")


def test_files_on_the_path_of_the_parent_do_not_shadow_the_standard_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading a function from a file puts its directory first on the path of the process."""
    for name in ("socket", "subprocess", "threading"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    new_pool = Pool("outlaw")
    try:
        assert new_pool.ask(b"said = socket.AF_UNIX.name", b"") == b"AF_UNIX"
    finally:
        new_pool.close()

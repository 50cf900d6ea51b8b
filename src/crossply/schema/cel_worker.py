"""The process that evaluates expressions which could take much memory or time: its loop, and its replies.

It gets what it needs before it limits its own memory. Its parent limits its time.
"""

from __future__ import annotations

import functools
import json
import pickle
import sys
from datetime import datetime, timedelta
from typing import Any

from crossply.schema.cel_error_translation import OUT_OF_BUDGET

MEMORY = 256 << 20
"""How many bytes of memory expressions may have beside what the process has at its start."""

LONGEST_REPLY = 4 << 20
"""How long the value of an expression may be, as JSON, in bytes."""

READY = b"ready"


def main() -> None:
    """Serve until the parent closes the pipe."""
    _environment(("self",))
    _limit_memory()
    _write(READY)
    while head := sys.stdin.buffer.read(4):
        text, data = pickle.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
        _write(write_value(*_evaluate(text, data)))


def _evaluate(text: str, data: dict[str, Any]) -> tuple[Any, str]:
    try:
        program = _environment(tuple(data)).compile(text)
    except RuntimeError:
        return None, OUT_OF_BUDGET  # it calls what only the parent has, which is expensive too
    try:
        result = program.eval(data=data)
        if str(result.type()) == "ERROR":
            return None, str(result.value())
        return result.plain_value(), ""
    except MemoryError:
        return None, OUT_OF_BUDGET
    except RuntimeError as problem:
        return None, str(problem)


def write_value(value: Any, problem: str) -> bytes:
    """A reply as bytes; a value that is too long is a problem."""
    try:
        written = json.dumps([_plain(value), problem]).encode()
    except (MemoryError, TypeError, ValueError, RecursionError):
        written = b""
    return written if 0 < len(written) <= LONGEST_REPLY else json.dumps([None, OUT_OF_BUDGET]).encode()


def read_value(reply: bytes) -> tuple[Any, str]:
    """The value in a reply, or the problem."""
    value, problem = json.loads(reply)
    return _from_plain(value), problem


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return ["time", value.isoformat()]
    if isinstance(value, timedelta):
        return ["duration", value.total_seconds()]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, dict):
        return ["map", [[_plain(key), _plain(member)] for key, member in value.items()]]
    if isinstance(value, list):
        return ["list", [_plain(item) for item in value]]
    return value


def _from_plain(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    kind, content = value
    if kind == "map":
        return {_from_plain(key): _from_plain(member) for key, member in content}
    if kind == "list":
        return [_from_plain(item) for item in content]
    if kind == "time":
        return datetime.fromisoformat(content)
    return timedelta(seconds=content) if kind == "duration" else bytes.fromhex(content)


@functools.lru_cache(maxsize=8)
def _environment(names: tuple[str, ...]) -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    from crossply.schema.cel_library import declarations

    return cel.NewEnv(
        variables=dict.fromkeys(names, cel.Type.DYN),
        extensions=[ext_optional.ExtOptional(), ext_strings.ExtStrings(), ext_bindings.ExtBindings()],
        functions=declarations(),
    )


def _limit_memory() -> None:
    import resource

    from google.protobuf import duration_pb2, timestamp_pb2  # noqa: F401 - questions hold them

    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def _write(reply: bytes) -> None:
    sys.stdout.buffer.write(len(reply).to_bytes(4, "big") + reply)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

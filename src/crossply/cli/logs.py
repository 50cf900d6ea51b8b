"""`crossply logs`: show what a Provider or Function of a control plane on this machine wrote."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from typing import BinaryIO

from crossply.cli.framework.command import Argument, Command, Flag, Invocation, UsageError
from crossply.cli.local_control_plane.data_directory import DEFAULT_DATA, LOGS, check_owner, data_directory_of

_KINDS = {
    "provider": "provider",
    "providers": "provider",
    "function": "function",
    "functions": "function",
}
_POLL = 0.2
_CHUNK = 1 << 16


def run(invocation: Invocation) -> int:
    """Print the log, and follow it if asked to."""
    kind, name = _resource(invocation)
    data = invocation["data"] or data_directory_of(invocation.environ) or DEFAULT_DATA
    check_owner(data)
    path = os.path.join(data, LOGS, kind, f"{name}.log")
    if not os.path.exists(path) and not os.path.exists(f"{path}.1"):
        _refuse(data, kind, name)
    for text in _log(path, invocation["tail"], invocation["follow"]):
        invocation.stdout.write(text.decode("utf-8", "replace"))
        invocation.stdout.flush()
    return 0


def _resource(invocation: Invocation) -> tuple[str, str]:
    word, slash, name = invocation["resource"].partition("/")
    name = name if slash else (invocation["name"] or "")
    # Users of kubectl write provider.pkg.crossplane.io/NAME, too.
    kind = _KINDS.get(word.partition(".")[0].lower(), "")
    if not kind or not name or "/" in name or name.startswith("."):
        raise UsageError("say whose log to show, as provider/NAME or function/NAME")
    return kind, name


def _refuse(data: str, kind: str, name: str) -> None:
    from crossply.cli.local_control_plane.failures import NoLog

    logs = os.path.join(data, LOGS)
    known = sorted(
        f"{folder}/{file.removesuffix('.log')}"
        for folder in set(_KINDS.values())
        if os.path.isdir(os.path.join(logs, folder))
        for file in os.listdir(os.path.join(logs, folder))
        if file.endswith(".log")
    )
    hint = f"there are logs of {', '.join(known)}" if known else NoLog.hint
    raise NoLog(f"there is no log of {kind}/{name} in {data}", hint=hint)


def _log(path: str, lines: int, keep_reading: bool) -> Iterator[bytes]:
    """What is kept, or its last lines; then what is written from now on."""
    before = _opened(f"{path}.1")
    file = _opened(path)
    try:
        text = b"".join(opened.read() for opened in (before, file) if opened is not None)
        yield b"".join(text.splitlines(keepends=True)[-lines:]) if lines >= 0 else text
        while keep_reading:
            time.sleep(_POLL)
            while file is not None and (data := file.read(_CHUNK)):
                yield data
            if file is None or _was_replaced(file, path):
                file = yield from _next(file, path)
    finally:
        for opened in (before, file):
            if opened is not None:
                opened.close()


def _next(file: BinaryIO | None, path: str) -> Generator[bytes, None, BinaryIO | None]:
    """The file that takes the place of a full one, after what was written to that since the last look."""
    if file is not None:
        yield file.read()
        file.close()
    return _opened(path)


def _opened(path: str) -> BinaryIO | None:
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        return None


def _was_replaced(file: BinaryIO, path: str) -> bool:
    try:
        return os.stat(path).st_ino != os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return True


COMMAND = Command(
    name="logs",
    summary="Show the output of a Provider or Function on this machine.",
    description=(
        "Shows what the container or process of a package wrote, and when it started, ended and was started "
        "again. `crossply up` keeps the newest 8 to 16 MiB of each package in its data directory, also after "
        "the package was removed.\n"
        "\n"
        "On a Kubernetes cluster use kubectl: "
        "kubectl -n crossplane-system logs -l pkg.crossplane.io/provider=NAME"
    ),
    examples=(
        "crossply logs provider/provider-sql",
        "crossply logs provider/provider-sql --follow --tail=20",
        "crossply logs function/function-shop --data ./state",
    ),
    run=run,
    arguments=(
        Argument("resource", "Whose output to show: provider/NAME or function/NAME."),
        Argument("name", "The name, if it is not part of the first argument.", optional=True),
    ),
    flags=(
        Flag("follow", "Keep printing new output until Ctrl-C.", short="f"),
        Flag("tail", "How many lines to print. -1 means all.", kind="int", default=-1, placeholder="-1"),
        Flag(
            "data",
            "The data directory of the control plane. By default that of $KUBECONFIG, else ./.crossply.",
            kind="path",
            placeholder="DIR",
        ),
    ),
)

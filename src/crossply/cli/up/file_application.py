"""Applying files to a control plane of this machine: one that just started, or one that runs already."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crossply.cli.framework.command import Invocation
from crossply.cli.local_control_plane.data_directory import LOG_FILE
from crossply.cli.up.dashboard_flags import offered_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Event

    from crossply.kube.client import Client

FAILED = 1


def apply_to_running(invocation: Invocation) -> int | None:
    """Apply to the control plane that runs on the data directory; None where none does."""
    from crossply.cli.local_control_plane.lock import is_locked, running

    data = invocation["data"]
    owner = running(data) if os.path.isdir(data) and is_locked(data) else None
    if owner is None:
        return None
    import asyncio

    invocation.stderr.write(f"crossply: applying to the control plane that runs as process {owner.pid}\n")
    try:
        return asyncio.run(_apply(invocation))
    except KeyboardInterrupt:
        if not invocation["watch"]:
            raise
        return 0


async def _apply(invocation: Invocation) -> int:
    from crossply.cli.up.files.apply_loop import ApplyLoop
    from crossply.kube.client import Client
    from crossply.kube.config import load_config

    async with Client(load_config(os.path.join(invocation["data"], "kubeconfig"))) as client:
        loop = ApplyLoop(invocation, client, header(invocation, "Ctrl-C ends watching only"))
        if invocation["watch"] and not invocation["detach"]:
            await loop.watch()
        return 0 if await loop.once() else FAILED


async def apply_when_ready(
    invocation: Invocation, client: Client, ready: Event, applied: Callable[[], None]
) -> None:
    """Apply the files once the control plane is ready; ends only when it is cancelled."""
    import asyncio

    await ready.wait()
    if invocation["files"]:
        from crossply.cli.up.files.apply_loop import ApplyLoop

        loop = ApplyLoop(invocation, client, header(invocation))
        if invocation["watch"]:
            applied()
            await loop.watch()
        await loop.once()
        applied()
    await asyncio.Event().wait()


def header(invocation: Invocation, interrupt: str = "Ctrl-C stops") -> str:
    """The first line of the picture."""
    data = os.path.relpath(invocation["data"])
    address = offered_address(invocation["data"])
    dashboard = f"\ndashboard: {address}" if address else ""
    return f"KUBECONFIG={data}/kubeconfig · log: {data}/{LOG_FILE} · {interrupt}{dashboard}"


@contextmanager
def screen_for_picture(invocation: Invocation) -> Iterator[None]:
    """Where a picture is painted, what this process and its children log goes to a file."""
    if not (invocation["watch"] and invocation.stdout.isatty()):
        yield
        return
    import sys

    path = os.path.join(invocation["data"], LOG_FILE)
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    sys.stderr.flush()
    terminal = os.dup(2)
    os.dup2(log, 2)
    os.close(log)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(terminal, 2)
        os.close(terminal)

"""The data directory of `crossply up`: whether it can be trusted, and the small files in it.

A directory `.crossply` can come with a checkout or an archive. What is in it decides whose tokens are
accepted and which objects there are. So it is opened without asking only if this user made it on this
machine.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from crossply.cli.framework.command import Flag, Invocation
from crossply.cli.local_control_plane.failures import UntrustedData

DEFAULT_DATA = os.path.join(".", ".crossply")
LOG_FILE = "up.log"
LOCK_FILE = "up.lock"
METRICS_SOCKET = "metrics.sock"
"""Where `crossply top` reads the figures of the control plane."""
LOGS = "logs"
"""The directory with the output of Providers and Functions."""
_ORIGIN_FILE, _PORT_FILE = "origin", "port"
_MACHINE_ID = "/etc/machine-id"


def data_flag(help_text: str) -> Flag:
    """The flag that names the data directory."""
    return Flag("data", help_text, kind="path", default=DEFAULT_DATA, placeholder="DIR")


def open_data_directory(invocation: Invocation) -> str:
    """Make the data directory, or make sure that it can be trusted; raises UntrustedData.

    A directory that the command line names is the user's word: it is trusted from then on.
    """
    data: str = invocation["data"]
    try:
        os.makedirs(data, mode=0o700, exist_ok=True)
        is_new = not os.listdir(data)
    except OSError as problem:
        raise UntrustedData(f"cannot open the data directory {data}: {problem.strerror}") from None
    check_owner(data)
    if is_new or invocation.is_set("data"):
        save(data, _ORIGIN_FILE, _origin(data))
    elif read_saved(data, _ORIGIN_FILE) != _origin(data):
        raise UntrustedData(
            f"the data directory {data} was not made by you on this machine: it may have come with the files "
            "around it",
            hint=f"delete it; or, if you trust what is in it, name it: {invocation.path} --data {data}",
        )
    return data


def data_directory_of(environ: Mapping[str, str]) -> str | None:
    """The data directory whose kubeconfig is in use; None where that is another cluster's."""
    kubeconfig = environ.get("KUBECONFIG", "").partition(os.pathsep)[0]
    directory = os.path.dirname(os.path.abspath(kubeconfig))
    is_ours = os.path.basename(kubeconfig) == "kubeconfig" and os.path.exists(
        os.path.join(directory, _PORT_FILE)
    )
    return directory if is_ours else None


def data_directories_near(kubeconfig: str, environ: Mapping[str, str]) -> list[str]:
    """The data directories of control planes on this machine: the directories of their kubeconfigs."""
    files = [kubeconfig, *environ.get("KUBECONFIG", "").split(os.pathsep)]
    around = [os.path.dirname(os.path.abspath(file)) for file in files if file]
    return [DEFAULT_DATA, *(path for path in around if os.path.exists(os.path.join(path, LOCK_FILE)))]


def check_owner(data: str) -> None:
    """Raise UntrustedData unless this user alone can write to a directory."""
    try:
        status = os.stat(data)
    except OSError as problem:
        raise UntrustedData(f"cannot open the data directory {data}: {problem.strerror}") from None
    user = os.geteuid()
    if status.st_uid != user:
        raise UntrustedData(
            f"the data directory {data} belongs to user {status.st_uid}, and you are user {user}",
            hint="run as its owner, or name a directory of your own with --data; to take it over, chown it",
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UntrustedData(
            f"other users can write to the data directory {data}",
            hint=f"if its content is unchanged: chmod go-w {data}",
        )


def saved_port(data: str) -> int | None:
    """The port that the API server of this directory has had."""
    text = read_saved(data, _PORT_FILE)
    return int(text) if text.isdecimal() and 0 < int(text[:6]) < 65536 else None


def keep_port(data: str, port: int) -> None:
    """Have the API server listen on the same port at the next start."""
    save(data, _PORT_FILE, str(port))


def read_saved(data: str, name: str) -> str:
    """The text of a small file in the directory; empty where there is none."""
    try:
        descriptor = os.open(os.path.join(data, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with open(descriptor, "rb") as file:
        return file.read(4096).decode("utf-8", "replace").strip()


def save(data: str, name: str, text: str) -> None:
    """Write a small file that only this user can read."""
    if read_saved(data, name) == text:
        return  # so that a start needs no space on the disk
    path = os.path.join(data, name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with open(os.open(f"{path}.new", flags, 0o600), "w") as file:
        file.write(f"{text}\n")
    os.replace(f"{path}.new", path)


def remove_saved(data: str, name: str) -> None:
    """Remove a small file, if there is one."""
    with suppress(FileNotFoundError):
        os.remove(os.path.join(data, name))


def _origin(data: str) -> str:
    """What a copy of the directory does not have: this machine, this user, this directory."""
    import hashlib
    import platform

    try:
        with open(_MACHINE_ID) as file:
            machine = file.read().strip()
    except OSError:
        machine = ""
    identity = f"{machine or platform.node()}:{os.geteuid()}:{os.stat(data).st_ino}"
    return hashlib.sha256(identity.encode()).hexdigest()

"""The OCI runtime specification of a container, from its image and settings."""

from __future__ import annotations

import os
import platform
import resource
from typing import Any, NamedTuple

from crossply.containers.failures import BadImage
from crossply.containers.limit_enforcement import BY_WATCHING, EnforcedLimits
from crossply.containers.seccomp import seccomp_profile
from crossply.containers.settings import ISOLATED, RUNNER, Limits, Settings
from crossply.containers.user_namespace import IdMap
from crossply.values import Object

ROOT, TLS, HOSTS = "root", "tls", "hosts"
"""Names below the directory of a container: its root file system, its certificates, its files of /etc."""
TLS_DIRECTORY = "/tls/server"
TLS_VARIABLE = "TLS_SERVER_CERTS_DIR"
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LIKELY_TO_BE_KILLED = 500
_MOST_VOLUMES = 4
_RIGHTS = ("bounding", "effective", "permitted", "inheritable", "ambient")
_MASKED = (
    *("acpi", "asound", "interrupts", "kcore", "keys", "latency_stats", "sched_debug", "scsi"),
    *("timer_list", "timer_stats", "kallsyms", "kmsg", "sysrq-trigger", "config.gz"),
)
_READ_ONLY = ("bus", "fs", "irq", "sys")
_NOT_THE_IMAGES = ("proc", "dev", "sys")


class Inside(NamedTuple):
    """What of the image the description is made of."""

    config: Object
    """Its `config`: entry point, environment, user, working directory."""
    directory: str
    """Where to start it, without a symbolic link on the way."""
    ids: IdMap
    mounts: tuple[str, ...]
    """Where the mounts of the settings are to be seen; they are below the directory as mount0, mount1 …"""


def runtime_spec(inside: Inside, settings: Settings, enforced: EnforcedLimits) -> Object:
    """The whole description, for a directory that has everything it names."""
    return {
        "ociVersion": "1.0.2",
        "hostname": settings.hostname,
        "root": {"path": ROOT, "readonly": True},
        "process": _process(inside, settings, enforced),
        "mounts": _mounts(inside, settings),
        "linux": {
            "namespaces": [{"type": kind} for kind in _namespaces(settings)],
            "uidMappings": _mappings(inside.ids.users),
            "gidMappings": _mappings(inside.ids.groups),
            "maskedPaths": [f"/proc/{name}" for name in _MASKED],
            "readonlyPaths": [f"/proc/{name}" for name in _READ_ONLY],
            "seccomp": seccomp_profile(platform.machine()),
        },
    }


def _process(inside: Inside, settings: Settings, enforced: EnforcedLimits) -> Object:
    return {
        "terminal": False,
        "user": {"uid": inside.ids.user, "gid": inside.ids.group},
        "args": command_of(inside.config, settings),
        "cwd": inside.directory,
        "env": _environment(inside.config, settings),
        "capabilities": {kind: [] for kind in _RIGHTS},
        "noNewPrivileges": True,
        "oomScoreAdj": _LIKELY_TO_BE_KILLED,
        "rlimits": _rlimits(settings.limits, enforced),
    }


def command_of(config: Object, settings: Settings) -> list[str]:
    """What to start: our command, or the entry point, and our arguments or the image's own."""
    if settings.command:
        return list(settings.command)
    arguments = _texts(config.get("Cmd")) if settings.arguments is None else list(settings.arguments)
    command = [*_texts(config.get("Entrypoint")), *arguments]
    if not command:
        raise BadImage("the image has neither an entry point nor a command")
    return command


def working_directory(config: Object) -> str:
    """Where to start it."""
    directory = config.get("WorkingDir")
    return "/" + os.path.normpath(f"/{directory}").lstrip("/") if isinstance(directory, str) else "/"


def volumes_of(config: Object) -> list[str]:
    """Directories that the image wants to write to."""
    volumes = config.get("Volumes")
    paths = sorted(os.path.normpath(path) for path in volumes) if isinstance(volumes, dict) else []
    allowed = [path for path in paths if path.startswith("/") and path not in ("/", "//", "/tmp")]
    return [path for path in allowed if not is_the_kernels(path)][:_MOST_VOLUMES]


def is_the_kernels(path: str) -> bool:
    """Return whether a path leads to what the kernel shows instead of files."""
    return os.path.normpath(path).lstrip("/").partition("/")[0] in _NOT_THE_IMAGES


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _environment(config: Object, settings: Settings) -> list[str]:
    pairs = [_PATH, "HOME=/tmp", *_texts(config.get("Env"))]
    if settings.tls_certificates:
        pairs.append(f"{TLS_VARIABLE}={TLS_DIRECTORY}")
    named = dict(pair.partition("=")[::2] for pair in [*pairs, *settings.environment])
    return [f"{name}={value}" for name, value in named.items() if name]


def _mounts(inside: Inside, settings: Settings) -> list[Object]:
    scratch = settings.limits.scratch
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
        _memory("/dev", 64 << 10, "755", "noexec"),
        _memory("/dev/shm", scratch, "1777", "noexec", "nodev"),
        _memory("/tmp", scratch, "1777", "nodev"),
        *(_memory(path, scratch, "777", "nodev") for path in volumes_of(inside.config)),
        *(_bound(f"{HOSTS}/{name}", f"/etc/{name}") for name in host_files(settings)),
    ]
    if settings.tls_certificates:
        mounts.append(_bound(TLS, TLS_DIRECTORY))
    return mounts + [_bound(f"mount{number}", target) for number, target in enumerate(inside.mounts)]


def host_files(settings: Settings) -> tuple[str, ...]:
    """The files of /etc that a container gets from us."""
    return ("hosts",) if settings.network == ISOLATED else ("hosts", "resolv.conf")


def _memory(target: str, size: int, mode: str, *options: str) -> Object:
    mount_options = ["nosuid", *options, f"mode={mode}", f"size={size}"]
    return {"destination": target, "type": "tmpfs", "source": "tmpfs", "options": mount_options}


def _bound(name: str, target: str) -> Object:
    options = ["rbind", "ro", "nosuid", "nodev"]
    return {"destination": target, "type": "bind", "source": name, "options": options}


def _namespaces(settings: Settings) -> list[str]:
    namespaces = ["user", "mount", "pid", "ipc", "uts", "cgroup"]
    return namespaces if settings.network == RUNNER else [*namespaces, "network"]


def _mappings(entries: tuple[tuple[int, int], ...]) -> list[Object]:
    return [{"containerID": inside, "hostID": outside, "size": 1} for inside, outside in entries]


def _rlimits(limits: Limits, enforced: EnforcedLimits) -> list[Object]:
    rlimits = {"NOFILE": 4096, "CORE": 0, "NPROC": limits.pids, "MSGQUEUE": 0, "FSIZE": limits.scratch}
    if enforced.memory == BY_WATCHING:
        # All processes together are watched; this only bounds what one can take between two looks. It has to
        # be generous: languages ask for much more address space than they use.
        rlimits["DATA"] = 2 * limits.memory + (1 << 30)
    return [_rlimit(name, value) for name, value in rlimits.items()]


def _rlimit(name: str, value: int) -> Object:
    most = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    return {"type": f"RLIMIT_{name}", "soft": value, "hard": value}

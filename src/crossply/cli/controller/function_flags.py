"""Flags for functions: how they are called, and what they may use of the machine."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Flag, Invocation, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.calls.runner_factory import CallSettings
    from crossply.functions.host_access_policy import HostAccess

CALL_FLAGS = (
    Flag(
        "max-concurrent-function-calls",
        "The maximum number of concurrent calls of one function. Further calls wait.",
        kind="int",
        default=32,
        placeholder="32",
        env="MAX_CONCURRENT_FUNCTION_CALLS",
    ),
    Flag(
        "max-function-reply-size",
        "The maximum size of a function's response, in MiB.",
        kind="int",
        default=4,
        placeholder="4",
        env="MAX_FUNCTION_REPLY_SIZE",
    ),
    Flag(
        "enable-function-response-cache",
        "Cache function responses on disk as well, encrypted, for as long as their ttl says. The "
        "cache survives restarts.",
        default=False,
        env="ENABLE_FUNCTION_RESPONSE_CACHE",
    ),
    Flag(
        "xfn-cache-dir",
        "The directory of the function response cache.",
        kind="path",
        default="/cache/xfn",
        placeholder="DIR",
        env="XFN_CACHE_DIR",
    ),
    Flag(
        "xfn-cache-max-ttl",
        "The maximum time to cache a response, whatever its ttl says. 0 means no maximum.",
        kind="duration",
        default="24h",
        placeholder="24h",
        env="XFN_CACHE_MAX_TTL",
    ),
)


def call_settings(invocation: Invocation) -> CallSettings:
    """What the flags say."""
    from crossply.control.calls.response_store import ResponseStoreSettings
    from crossply.control.calls.runner_factory import CallSettings

    store = ResponseStoreSettings(invocation["xfn-cache-dir"], invocation["xfn-cache-max-ttl"])
    return CallSettings(
        max(invocation["max-concurrent-function-calls"], 1),
        max(invocation["max-function-reply-size"], 1) << 20,
        store if invocation["enable-function-response-cache"] else None,
    )


HOST_ACCESS_FLAGS = (
    Flag(
        "allow-local-functions",
        "Run Functions from files below this directory, as crossply.dev/file, templates and kcl name "
        "them, and Providers in Python, as crossply.dev/directory names them. Users who may create them can "
        "then run every Python file in it as you. Repeatable; by default no file is run.",
        kind="paths",
        placeholder="DIR",
    ),
    Flag(
        "allow-local-commands",
        "Run Functions and Providers by the command that crossply.dev/command names. Users who create them "
        "can then run every command as you. By default no command is run.",
    ),
)


def host_access(invocation: Invocation, *data: str) -> HostAccess:
    """What the flags allow, except for what is in data directories.

    Packages and images are unpacked there: a Function must not run a file that another one brought.
    """
    from crossply.containers.settings import store_directory
    from crossply.functions.host_access_policy import HostAccess

    directories = tuple(invocation["allow-local-functions"] or ())
    for directory in directories:
        if not os.path.isdir(directory):
            raise UsageError(f"--allow-local-functions: {directory} is not a directory")
    excluded = tuple(map(os.path.abspath, (*data, store_directory(invocation.environ))))
    return HostAccess(directories, bool(invocation["allow-local-commands"]), excluded)

"""Flags for encryption at rest, shared by the commands that open an API server's database."""

from __future__ import annotations

import os
from collections.abc import Sequence

from crossply.cli.framework.command import Flag, Invocation, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.apiserver.storage import ValueCodec

_FILE = "encryption-key-file"
_ENV = "encryption-key-env"
_COMMAND = "encryption-key-command"
_CONFIG = "encryption-config"
_SOURCES = (_FILE, _ENV, _COMMAND, _CONFIG)
_RESOURCES = "encryption-resources"
_COPIES = (("data", "before-loss-"), ("", "backup-"))
"""Where copies of the database can be that were left by other commands, and how their names begin."""

ENCRYPTION_FLAGS = (
    Flag(
        _FILE,
        "Encrypt stored Secrets with the key in this file: 32 bytes in base64, one key on each line. The "
        "first key encrypts, and all keys decrypt; a line with the word identity means plain text. By "
        "default nothing is encrypted.",
        kind="path",
        placeholder="PATH",
        exclusive="encryption",
    ),
    Flag(
        _ENV,
        "Encrypt stored Secrets with the key in this environment variable, in the same form.",
        kind="string",
        placeholder="NAME",
        exclusive="encryption",
    ),
    Flag(
        _COMMAND,
        "Encrypt stored Secrets with the key that this command prints, in the same form. It runs at each "
        "start, without a shell, for at most 60 seconds.",
        kind="string",
        placeholder="COMMAND",
        exclusive="encryption",
    ),
    Flag(
        _CONFIG,
        "Encrypt stored objects by the rules of this EncryptionConfiguration (apiserver.config.k8s.io/v1). "
        "The providers aesgcm and identity are supported.",
        kind="path",
        placeholder="PATH",
        exclusive="encryption",
    ),
    Flag(
        _RESOURCES,
        "The resources to encrypt with a key of one of the other flags, such as secrets, "
        "widgets.example.org, *.example.org or *.*. Default: secrets.",
        kind="strings",
        default=("secrets",),
        placeholder="RESOURCE,...",
    ),
)


def codec_of(invocation: Invocation) -> ValueCodec:
    """The storage codec: encrypted if a flag enables it."""
    from crossply.apiserver.storage import PLAIN

    if not has_key(invocation):
        if invocation.is_set(_RESOURCES):
            raise UsageError(f"--{_RESOURCES} needs a key: give one of --{', --'.join(_SOURCES[:3])}")
        return PLAIN
    return _encryption(invocation)


def has_key(invocation: Invocation) -> bool:
    """Whether one of the flags names a key."""
    return any(invocation[name] for name in _SOURCES)


def _encryption(invocation: Invocation) -> ValueCodec:
    from crossply.apiserver import encryption

    if path := invocation[_CONFIG]:
        if invocation.is_set(_RESOURCES):
            raise UsageError(f"--{_CONFIG} and --{_RESOURCES} can't be used together")
        return encryption.parse_configuration(encryption.read_key_file(path), path)
    if path := invocation[_FILE]:
        text, place = encryption.read_key_file(path), path
    elif name := invocation[_ENV]:
        text, place = encryption.key_from_environment(invocation.environ, name), f"the variable {name}"
    else:
        text, place = encryption.key_from_command(invocation[_COMMAND]), "the output of the command"
    return encryption.encryption_with_keys(text, place, invocation[_RESOURCES])


def encryption_words(invocation: Invocation) -> tuple[str, ...]:
    """The same flags for a process that we start. They name where a key is, and have no key."""
    words = [f"--{name}={invocation[name]}" for name in _SOURCES if invocation[name]]
    if invocation.is_set(_RESOURCES):
        words += [f"--{_RESOURCES}={resource}" for resource in invocation[_RESOURCES]]
    return tuple(words)


def take_key_variable(invocation: Invocation) -> dict[str, str]:
    """Take the variable with the key out of our environment: functions that we start must not inherit it."""
    name = invocation[_ENV]
    if not name or name not in os.environ:
        return {}
    return {name: os.environ.pop(name)}


def report_rewritten(invocation: Invocation, rewritten: int) -> None:
    """Say that stored objects were rewritten, and which copies of the old ones are left."""
    if not rewritten:
        return
    invocation.stderr.write(f"crossply: rewrote the database: {rewritten} values had another key or none\n")
    for copy in _old_copies(invocation["data"]):
        invocation.stderr.write(
            f"crossply: warning: {copy} has a copy of the database from before; delete it if you can\n"
        )


def _old_copies(data: str) -> Sequence[str]:
    copies = []
    for folder, prefix in _COPIES:
        place = os.path.join(data, folder) if folder else data
        names = os.listdir(place) if os.path.isdir(place) else []
        copies += [os.path.join(place, name) for name in sorted(names) if name.startswith(prefix)]
    return copies

"""Keys as text: one per line, in base64. The first encrypts, all of them decrypt.

A line may be the word `identity`: as the first one, it makes the server write plain text.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import shlex
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crossply.apiserver.storage import Encryption, EncryptionKey, EncryptionUnusable, Providers, ResourceGroup

_PATTERN = re.compile(r"[a-z0-9][a-z0-9.-]*|\*\.(\*|[a-z0-9.-]*)")


def check_resources(patterns: Iterable[Any], place: str) -> tuple[str, ...]:
    """The patterns, if each of them can match a resource."""
    names = tuple(patterns)
    for name in names:
        if not isinstance(name, str) or not _PATTERN.fullmatch(name):
            raise EncryptionUnusable(
                f"{place} has something that is no resource",
                hint="name resources as secrets, deployments.apps, *.apps or *.*",
            )
    return names


_KEY_BYTES = 32
_NAME_DIGITS = 12
_COMMAND_SECONDS = 60.0
_MOST_BYTES = 1 << 20
_IDENTITY = "identity"
_MAKE_A_KEY = "make a key with: head -c 32 /dev/urandom | base64"


def encryption_with_keys(text: str, place: str, resources: Sequence[str]) -> Encryption:
    """A codec that encrypts resources with the first key of a text, and decrypts with all of them."""
    patterns = check_resources(resources, "the list of resources to encrypt")
    lines = _lines(text)
    keys = tuple(_key(line, f"line {number} of {place}") for number, line in lines if line != _IDENTITY)
    if not keys:
        raise EncryptionUnusable(f"{place} has no encryption key", hint=_MAKE_A_KEY)
    first = None if lines[0][1] == _IDENTITY else keys[0]
    encrypting = Providers(keys, first, reads_plain=True)
    return Encryption([ResourceGroup(patterns, encrypting)], Providers(keys, None, reads_plain=True))


def read_key_file(path: str) -> str:
    """The content of a key file, which only its owner and group may read."""
    try:
        with open(path, encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_MOST_BYTES)
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not text"
        raise EncryptionUnusable(f"{path} cannot be read: {reason}", hint=_MAKE_A_KEY) from None
    if stat.S_ISREG(mode) and mode & stat.S_IRWXO:
        raise EncryptionUnusable(f"other users may read or change {path}", hint=f"chmod 600 {path}")
    return text


def key_from_environment(environ: Mapping[str, str], name: str) -> str:
    if not environ.get(name):
        raise EncryptionUnusable(f"the environment variable {name} is not set", hint=_MAKE_A_KEY)
    return environ[name]


def key_from_command(command: str) -> str:
    """The output of a command. It runs without a shell; its standard error is shown."""
    try:
        words = shlex.split(command)
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_COMMAND_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise _command_failed(command, f"it took longer than {_COMMAND_SECONDS:.0f} seconds") from None
    except (OSError, ValueError, IndexError) as problem:
        raise _command_failed(command, getattr(problem, "strerror", None) or "it cannot be run") from None
    if done.returncode:
        raise _command_failed(command, f"exit code {done.returncode}")
    # Its output is never shown, not even when it is not text.
    return done.stdout.decode("ascii", errors="replace")


def _command_failed(command: str, reason: str) -> EncryptionUnusable:
    return EncryptionUnusable(f"the command that prints the encryption key failed: {command}: {reason}")


def _lines(text: str) -> list[tuple[int, str]]:
    """The non-empty lines, with their numbers."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    return [(number, line) for number, line in lines if line and not line.startswith("#")]


def _key(line: str, place: str) -> EncryptionKey:
    try:
        secret = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if len(secret) != _KEY_BYTES:
        raise EncryptionUnusable(f"{place} is not a key of {_KEY_BYTES} bytes in base64", hint=_MAKE_A_KEY)
    return EncryptionKey(_name_of(secret), secret)


def _name_of(secret: bytes) -> str:
    """A name that distinguishes keys and reveals nothing about them: they have 256 bits."""
    return hashlib.sha256(b"name of an encryption key\n" + secret).hexdigest()[:_NAME_DIGITS]

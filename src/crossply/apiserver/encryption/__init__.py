"""Where the keys that encrypt stored objects come from: a file, a variable, a command, a configuration.

`key_sources` reads keys, `configuration` reads Kubernetes' EncryptionConfiguration; both create the codec
that `storage.encryption` defines. No message, log or process list ever shows a key.
"""

from __future__ import annotations

from crossply.apiserver.encryption.configuration import parse_configuration
from crossply.apiserver.encryption.key_sources import (
    encryption_with_keys,
    key_from_command,
    key_from_environment,
    read_key_file,
)

__all__ = [
    "encryption_with_keys",
    "key_from_command",
    "key_from_environment",
    "parse_configuration",
    "read_key_file",
]

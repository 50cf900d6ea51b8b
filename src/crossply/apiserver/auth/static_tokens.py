"""Static bearer tokens: from a CSV file, and the administrator's.

Only digests are stored, so that neither a memory dump nor the time of a comparison reveals a token.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping

from crossply.apiserver.auth.system_users_and_groups import MASTERS, authenticated
from crossply.apiserver.auth.token_results import TokenFileError
from crossply.apiserver.endpoints.request_info import User


class StaticTokens:
    def __init__(self, users: Mapping[str, User] | None = None) -> None:
        self._by_digest = {_digest(token): authenticated(user) for token, user in (users or {}).items()}

    def add_administrator(self, token: str) -> None:
        """Add a token for a member of system:masters."""
        self._by_digest[_digest(token)] = authenticated(User("admin", (MASTERS,), uid="admin"))

    def find(self, token: str) -> User | None:
        return self._by_digest.get(_digest(token))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def read_token_file(path: str) -> dict[str, User]:
    """The users of a CSV file with the columns token, user name, user uid and, optionally, groups."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return _parse(path, file.read())
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise TokenFileError(f"cannot read token file '{path}': {problem}", place=path) from None


def _parse(path: str, text: str) -> dict[str, User]:
    users: dict[str, User] = {}
    for record in filter(None, csv.reader(text.splitlines())):
        if len(record) < 3:
            raise TokenFileError(
                f"token file '{path}' must have at least 3 columns (token, user name, user uid), "
                f"found {len(record)}",
                place=path,
            )
        token, name, uid, *more = record
        groups = tuple(more[0].split(",")) if more and more[0] else ()
        if token:
            users[token] = User(name, groups, uid)
    return users

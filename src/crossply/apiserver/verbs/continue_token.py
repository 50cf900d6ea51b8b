"""The continue token of a paged list: the revision of the snapshot, and where the next page starts."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import orjson

from crossply.apiserver.endpoints.metadata_decoding import json_type
from crossply.apiserver.endpoints.status_errors import bad_request
from crossply.apiserver.storage import Entry
from crossply.values.gojson import JsonError
from crossply.values.gojson import loads as go_loads

LATEST = -1
"""The revision of a token that continues in the newest state, which may be inconsistent."""

_API_VERSION = "meta.k8s.io/v1"
_NOT_BASE64 = re.compile("[^A-Za-z0-9_-]")
_REVISION = re.compile(r'"rv"\s*:\s*([-+.eE0-9]+)')


def continue_token(revision: int, last: Entry) -> str:
    """The token of the page after this entry."""
    return write_token(revision, position(last))


def position(entry: Entry) -> str:
    """The place of an entry in a list, as tokens name it."""
    return f"{entry.key[1]}/{entry.key[2]}\x00"


def write_token(revision: int, start: str) -> str:
    fields = {"v": _API_VERSION, "rv": revision, "start": start}
    return base64.urlsafe_b64encode(orjson.dumps(fields)).rstrip(b"=").decode()


def read_token(token: str) -> tuple[int, str]:
    """The revision and the start position in a token; raises the BadRequest error of kube-apiserver."""
    try:
        return _parsed(_decoded(token))
    except (JsonError, _BadToken) as problem:
        why = str(problem)
    except (ValueError, TypeError, AttributeError):
        why = "incorrect encoding"
    raise bad_request(f"invalid continue token: continue key is not valid: {why}")


class _BadToken(Exception):
    """Why a token is not one that this server wrote."""


def _parsed(text: str) -> tuple[int, str]:
    fields = go_loads(text)
    revision = _revision(fields.get("rv"), text)
    if fields.get("v") != _API_VERSION:
        raise _BadToken(f"server does not recognize this encoded version {fields.get('v', '')}")
    if not revision:
        raise _BadToken(f"incorrect encoded start resourceVersion (version {_API_VERSION})")
    if not fields.get("start"):
        raise _BadToken(f"continue key is empty (version {_API_VERSION})")
    return revision, str(fields["start"])


def _revision(value: Any, text: str) -> int:
    """The number as Go's decoder reads an int64; `text` is the token that it is in."""
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    literal = _REVISION.search(text)
    shown = f"number {literal[1]}" if literal is not None else json_type(value)
    raise _BadToken(f"json: cannot unmarshal {shown} into Go struct field continueToken.rv of type int64")


def _decoded(token: str) -> str:
    wrong = _NOT_BASE64.search(token)
    if wrong is not None:
        raise _BadToken(f"illegal base64 data at input byte {wrong.start()}")
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except binascii.Error:
        raise _BadToken(f"illegal base64 data at input byte {len(token) - 1}") from None
    if raw[:1] > b"\x7f":
        # Go reports bytes, not characters.
        shown = chr(raw[0]) if chr(raw[0]).isprintable() else f"\\u{raw[0]:04x}"
        raise _BadToken(f"invalid character '{shown}' looking for beginning of value")
    return raw.decode("latin-1")

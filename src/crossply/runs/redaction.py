"""Keeping secrets out of recorded runs.

By structure, the data of Secrets, connection details and credentials are never part of a record. By value,
each secret that was seen in a run is replaced wherever else it occurs in the record: as it is, in base64 once
or twice, in hex, quoted for URLs or, once or twice, for JSON, without the white space around it, as a whole
string or as a part of one. Functions copy what they like. What they compute of a secret in another way, as a
hash or a slice, is not recognised.

The same secret has the same placeholder within one process. It is made with a random key that is stored
nowhere, so that a guess cannot be checked against it. A value in base64 or hex is replaced by the placeholder
in base64 or hex: a replay encodes the placeholder, and comes to the same text.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

import orjson

SUBSTRING_BYTES = 6
"""Shorter values are replaced only where they are a whole string: they occur in other words by chance."""
_FORM_CHARACTERS = 8
"""Its forms of so many characters, such as base64, do not: they are replaced anywhere, too."""
KEY_BYTES = 8
"""Values of at least so many bytes are also replaced in the keys of maps."""
_PART_BYTES = 12
"""A part of a secret, such as a token in a kubeconfig, is a secret of its own if it has so many bytes."""
_MOST_PARTS = 200
_SEPARATORS = re.compile(rb"[\s\"'=,:;{}\[\]\\]+")
_WORD = re.compile(rb"[a-z._/-]*|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|-+[A-Z ]+-+")
"""What looks like a word of a language or a format, such as the name of a field."""
_UNQUOTED = re.compile(r"[\w.~-]*", re.ASCII)
"""What is the same text when it is quoted for URLs or for JSON."""
_ESCAPE = re.compile("%[0-9A-F]{2}")
_ESCAPED_BY_GO = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})
_URL_SAFE = str.maketrans("+/", "-_")
_COMMON = frozenset({b"true", b"false", b"True", b"False", b"yes", b"no", b"null", b"none", b"None"})
_SECRET = b'"kind":"Secret"'
PLACEHOLDER = re.compile(r"redacted-[0-9a-f]{8}")


class Redactor:
    """Makes the placeholders of one process."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)

    def placeholder(self, value: bytes) -> str:
        """What stands for a secret; it may be a part of an object's name."""
        return "redacted-" + hmac.new(self._key, value, hashlib.sha256).hexdigest()[:8]

    def details(self, values: Mapping[str, bytes]) -> dict[str, str]:
        """The placeholders of connection details or credentials."""
        return {key: self.placeholder(value) for key, value in values.items()}

    def redact(self, data: bytes, known: Iterable[bytes], public: Iterable[str]) -> tuple[bytes, int]:
        """JSON without the secrets that are known and those of the Secrets in it, and how many there were.

        What is a part of a `public` text, such as the name of the composite resource, is no secret.
        """
        values = {value for value in known if value}
        has_secrets = _SECRET in data
        if not values and not has_secrets:
            return data, 0
        document = orjson.loads(data)
        if has_secrets:
            document = _without_secret_data(document, values, self)
        forms = self._forms(values, tuple(text.encode() for text in public))
        data = orjson.dumps(document) if has_secrets else data
        if any(form in data for form in forms.searched):
            data = orjson.dumps(forms.replaced(document))
        return data, len(values)

    def _forms(self, values: set[bytes], public: tuple[bytes, ...]) -> _Forms:
        forms = _Forms()
        for value in sorted(values | _parts(values), key=len, reverse=True):
            if value in _COMMON or any(value in text for text in public):
                continue
            forms.add(value, self.placeholder(value))
        return forms


class _Forms:
    """The texts that secrets may have, and what stands for each."""

    def __init__(self) -> None:
        self._whole: dict[str, str] = {}
        self._parts: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self._keys: set[str] = set()

    @property
    def searched(self) -> Iterable[bytes]:
        """What to look for in encoded JSON: if nothing is there, nothing is to be replaced."""
        for text in (*self._whole, *self._parts):
            yield orjson.dumps(text)[1:-1]

    def add(self, value: bytes, placeholder: str) -> None:
        self._add_encoded(value, placeholder)
        if (stripped := value.strip()) != value:
            self._add_encoded(stripped, placeholder)  # files end with a newline, which functions trim
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return
        for form in (*_quoted(text), *_quoted(text.strip())):
            self._put(value, form, placeholder)

    def _add_encoded(self, value: bytes, placeholder: str) -> None:
        stands_for = placeholder.encode()
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            once, once_for = encode(value), encode(stands_for)
            self._put(value, once.decode(), once_for.decode())
            self._put(value, encode(once).decode(), encode(once_for).decode())
        if len(value) >= SUBSTRING_BYTES:
            self._put(value, value.hex(), stands_for.hex())
            self._put(value, value.hex().upper(), stands_for.hex().upper())
            for offset in range(3):
                inner = _inner_base64(value, offset)
                self._parts.setdefault(inner, placeholder)
                self._parts.setdefault(inner.translate(_URL_SAFE), placeholder)

    def _put(self, value: bytes, text: str, replacement: str) -> None:
        if not text:
            return
        if len(value) < SUBSTRING_BYTES and len(text) < _FORM_CHARACTERS:
            self._whole.setdefault(text, replacement)
            return
        self._parts.setdefault(text, replacement)
        if len(value) >= KEY_BYTES:
            self._keys.add(text)

    def replaced(self, value: Any) -> Any:
        """The same JSON with the placeholders in it."""
        if isinstance(value, str):
            return self._replaced_text(value)
        if isinstance(value, dict):
            return {self._replaced_key(key): self.replaced(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.replaced(item) for item in value]
        if type(value) in (int, float):
            return self._parts.get(f"{value:.0f}" if value == int(value) else str(value), value)
        return value

    def _replaced_text(self, text: str) -> str:
        whole = self._whole.get(text)
        if whole is not None:
            return whole
        if not self._parts:
            return text
        return self._compiled().sub(lambda match: self._parts[match.group()], text)

    def _replaced_key(self, key: str) -> str:
        return self._replaced_text(key) if any(text in key for text in self._keys) else key

    def _compiled(self) -> re.Pattern[str]:
        if self._pattern is None:
            longest_first = sorted(self._parts, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return self._pattern


def _quoted(text: str) -> set[str]:
    """A text as it is, and as it is in URLs and in JSON that functions write."""
    if _UNQUOTED.fullmatch(text):
        return {text}
    in_urls = {quote(text, safe=""), quote(text), quote_plus(text)}
    in_urls |= {_ESCAPE.sub(lambda escape: escape.group().lower(), form) for form in in_urls}
    in_json = _in_json(text)
    return {text, *in_urls, *in_json}.union(*map(_in_json, in_json))


def _in_json(text: str) -> set[str]:
    """A text in JSON: with as few escapes as there may be, as Go writes it, and in ASCII."""
    shortest = orjson.dumps(text)[1:-1].decode()
    return {shortest, shortest.translate(_ESCAPED_BY_GO), json.dumps(text)[1:-1]}


def _inner_base64(value: bytes, offset: int) -> str:
    """What base64 makes of a value `offset` bytes after a multiple of three, whatever is around it."""
    text = base64.b64encode(bytes(offset) + value).decode().rstrip("=")
    start = (0, 2, 3)[offset]
    # The last character also has bits of what follows, unless the value ends with a group.
    end = len(text) if (offset + len(value)) % 3 == 0 else len(text) - 1
    return text[start:end]


def _parts(values: set[bytes]) -> set[bytes]:
    """What is secret within secrets that are texts of several words, such as kubeconfigs, keys and URLs."""
    parts: set[bytes] = set()
    for value in values:
        for part in _SEPARATORS.split(value, maxsplit=_MOST_PARTS):
            if _PART_BYTES <= len(part) < len(value) and not _WORD.fullmatch(part):
                parts.add(part)
    return parts


def _without_secret_data(value: Any, secrets: set[bytes], redactor: Redactor) -> Any:
    """The same JSON in which Secrets have placeholders for data; their data are added to `secrets`."""
    if isinstance(value, list):
        return [_without_secret_data(item, secrets, redactor) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "Secret" and not {"data", "stringData", "metadata"}.isdisjoint(value):
        return _secret_without_data(value, secrets, redactor)
    return {key: _without_secret_data(item, secrets, redactor) for key, item in value.items()}


def _secret_without_data(secret: dict[str, Any], secrets: set[bytes], redactor: Redactor) -> dict[str, Any]:
    result = dict(secret)
    for field in ("data", "stringData"):
        values = secret.get(field)
        if isinstance(values, dict):
            result[field] = {
                key: _secret_value(value, field == "data", secrets, redactor) for key, value in values.items()
            }
    metadata = secret.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
        rest = {**annotations, _LAST_APPLIED: "redacted"}
        result["metadata"] = {**secret["metadata"], "annotations": rest}
    return result


_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _secret_value(value: Any, encoded: bool, secrets: set[bytes], redactor: Redactor) -> Any:
    if not isinstance(value, str):
        return value if value is None else "redacted"
    content = value.encode(errors="surrogatepass")
    if encoded:
        try:
            content = base64.b64decode(value, validate=True)
        except ValueError:
            encoded = False  # what is no base64 is a secret as it stands
    if not content:
        return value
    secrets.add(content)
    placeholder = redactor.placeholder(content)
    return base64.b64encode(placeholder.encode()).decode() if encoded else placeholder

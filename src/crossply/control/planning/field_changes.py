"""Which differences between two states of an object are shown, and which must not be shown.

What the API server keeps for itself (versions, owners of fields, times) says nothing about what would happen.
The content of a Secret is never shown, only that it would change.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple

from crossply.compose.object_metadata import metadata_of, name_of, text_in, uid_of
from crossply.provenance.model import FieldSource
from crossply.runs.redaction import SUBSTRING_BYTES
from crossply.values import Object
from crossply.values.differences import MISSING, Path, differences

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_UNTOLD = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")
_IDENTITY = ("name", "namespace", "generateName", "ownerReferences")
_TIMES = ("lastTransitionTime", "observedGeneration", "lastPublishedTime", "lastUpdateTime")
_SECRET_FIELDS = ("data", "stringData")

SECRET = "(secret)"
GENERATED = "(generated)"


class Field(NamedTuple):
    """One field that would change; MISSING stands for a field that is not there."""

    path: str
    before: Any
    after: Any
    secret: bool = False
    """Whether the values are left out because they are secret."""
    source: FieldSource | None = None
    """Where the new value comes from, in a plan that explains."""


def fields_between(before: Object | None, after: Object | None) -> tuple[Field, ...]:
    """Every field of an object that would change. An object that goes has none: it goes as a whole."""
    if after is None:
        return ()
    hides = _is_secret(after)
    fields = []
    for difference in differences(before if before is not None else {}, after):
        if _is_untold(difference.path, new=before is None):
            continue
        if hides and difference.path[0] in _SECRET_FIELDS:
            fields.append(
                Field(difference.field, _hidden(difference.before), _hidden(difference.after), secret=True)
            )
        else:
            fields.append(Field(difference.field, difference.before, difference.after))
    return tuple(fields)


def _is_untold(path: Path, new: bool) -> bool:
    if path[0] == "metadata" and len(path) > 1:
        if path[1] in _UNTOLD or (new and path[1] in _IDENTITY):
            return True
        return len(path) > 2 and path[2] == _LAST_APPLIED
    if path[0] == "status":
        return path[-1] in _TIMES
    # An object may be read at one version and written at another.
    return path in (("apiVersion",), ("kind",))


def _is_secret(obj: Object) -> bool:
    return text_in(obj, "kind") == "Secret" and text_in(obj, "apiVersion") == "v1"


def _texts(value: Any, is_encoded: bool) -> set[str]:
    """A secret as it is in other objects: plain or in base64; short words are everywhere, and no secrets."""
    if not isinstance(value, str):
        return set()
    texts = {value, value.strip()}
    if is_encoded:
        try:
            plain = base64.b64decode(value, validate=True).decode()
        except ValueError:
            plain = value
        texts |= {plain, plain.strip()}
    return {text for text in texts if len(text) >= SUBSTRING_BYTES}


def _hidden(value: Any) -> Any:
    return value if value is MISSING else SECRET


class Unknown:
    """What cannot be known before it happens: the uid of a new object, and the names that follow from it."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._secrets: set[str] = set()

    def note_secret(self, obj: Object | None) -> None:
        """Note the content of a Secret: it is hidden in all other objects, too."""
        if obj is None or not _is_secret(obj):
            return
        for name in _SECRET_FIELDS:
            values = obj.get(name)
            for value in values.values() if isinstance(values, dict) else ():
                self._secrets |= _texts(value, is_encoded=name == "data")

    def note(self, obj: Object) -> None:
        """Note an object that would be new."""
        if uid_of(obj):
            self._words[uid_of(obj)] = "(known after apply)"

    def note_name(self, obj: Object, prefix: str) -> None:
        """Note a name of which the beginning only is known."""
        self._words[name_of(obj)] = self.text(prefix) + GENERATED

    def note_generated(self, obj: Object) -> None:
        """Note a name that was made of the owner's uid, if it was."""
        prefix = text_in(metadata_of(obj), "generateName")
        if prefix and name_of(obj).startswith(prefix):
            self.note_name(obj, prefix)

    def text(self, text: str) -> str:
        """A text with a word in place of all that is not known."""
        for unknown in sorted(self._words, key=len, reverse=True):
            text = text.replace(unknown, self._words[unknown])
        return text

    def value(self, value: Any) -> Any:
        """A value with words in place of all that is not known."""
        if isinstance(value, str):
            for secret in sorted(self._secrets, key=len, reverse=True):
                value = value.replace(secret, SECRET)
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        return value

    def field(self, field: Field) -> Field:
        """A field with words in place of all that is not known."""
        if not self._words and not self._secrets:
            return field
        return field._replace(
            path=self.text(field.path), before=self.value(field.before), after=self.value(field.after)
        )

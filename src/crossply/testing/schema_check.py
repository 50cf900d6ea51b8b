"""Whether an API server would accept what a test is about: checked as `crossply validate` does."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.manifests.sources import Manifest
from crossply.validation.extensions import Extensions
from crossply.validation.resources import Schemas
from crossply.values import Object
from crossply.values.yaml import Document


class Validity:
    """The kinds that are known: those of definitions and CRDs, and those that Kubernetes itself serves."""

    __slots__ = ("_schemas",)

    def __init__(self, definitions: Iterable[Object]) -> None:
        extensions = Extensions()
        extensions.add([_manifest(each) for each in definitions])
        self._schemas = Schemas(extensions.crds)

    def problems(self, obj: Object) -> list[str]:
        """Why the object would be refused; of an unknown kind nothing can be said."""
        return [each.message for each in self._schemas.validate(_manifest(obj)).findings]


def _manifest(value: Object) -> Manifest:
    return Manifest(value, Document(value, "", 1))

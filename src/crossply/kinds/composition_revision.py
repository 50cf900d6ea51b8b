"""CompositionRevisions: an immutable copy of a Composition, named by the hash of its content.

The hash is Crossplane's, byte for byte, so that revisions of a migrated control plane stay valid.
Labels and annotations count: changing only those makes a new revision too.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.kinds.composition import CompositionError, Pipeline, parse_spec
from crossply.kinds.composition_go_types import decode_spec
from crossply.kinds.fields import Fields, KindError
from crossply.values import Object
from crossply.values.owner_references import as_controller, reference_to

COMPOSITION_NAME = "crossplane.io/composition-name"
COMPOSITION_HASH = "crossplane.io/composition-hash"

# A label's value has at most 63 characters, one less than the hash.
_LABEL_LENGTH = 63
_NAME_LENGTH = 7
_UNKNOWN = "pipeline status unknown"


class RevisionError(KindError):
    """A CompositionRevision has a field that cannot be understood."""

    code = "CP-416"


class CompositionRevision(NamedTuple):
    """One revision of a Composition."""

    name: str
    uid: str
    labels: dict[str, str]
    composition: str
    """The name of the Composition it was made from."""
    hash_label: str
    number: int
    controller_uid: str
    is_valid: bool
    """Whether every function of the pipeline is known to be able to compose."""
    invalid_because: str
    """Why it is not valid; `pipeline status unknown` before it was checked."""
    is_checked: bool
    """Whether its functions were validated, with any result."""


def parse_revision(obj: Object) -> CompositionRevision:
    """Read a CompositionRevision without its pipeline, which may be unreadable: see `parse_pipeline`."""
    root = Fields(obj, error=RevisionError)
    metadata, spec = root.object("metadata"), root.object("spec")
    labels = metadata.string_map("labels")
    valid, reason, checked = _validity(root)
    return CompositionRevision(
        name=metadata.text("name"),
        uid=metadata.text("uid"),
        labels=labels,
        composition=labels.get(COMPOSITION_NAME, ""),
        hash_label=labels.get(COMPOSITION_HASH, ""),
        number=spec.integer("revision") or 0,
        controller_uid=_controller(metadata),
        is_valid=valid,
        invalid_because=reason,
        is_checked=checked,
    )


def parse_pipeline(obj: Object) -> Pipeline:
    """Read what a CompositionRevision composes by."""
    return parse_spec(Fields(obj, error=RevisionError).object("spec"))


def _validity(root: Fields) -> tuple[bool, str, bool]:
    """Whether the pipeline is valid, why not, and whether that is known."""
    for condition in root.object("status").objects("conditions"):
        if condition.text("type") == "ValidPipeline":
            if condition.text("status") == "True":
                return True, "", True
            return False, condition.text("message") or _UNKNOWN, condition.text("status") == "False"
    return False, _UNKNOWN, False


def _controller(metadata: Fields) -> str:
    for owner in metadata.objects("ownerReferences"):
        if owner.flag("controller"):
            return owner.text("uid")
    return ""


def composition_hash(composition: Object) -> str:
    """The hash of a Composition: the SHA-256 of its labels, annotations and spec as YAML."""
    import hashlib

    from crossply.values.yaml import dump

    root = Fields(composition, error=CompositionError)
    metadata = root.object("metadata")
    digest = hashlib.sha256()
    for part in (metadata.string_map("labels"), metadata.string_map("annotations")):
        digest.update(dump(part or None).encode())
    digest.update(dump(decode_spec(composition)).encode())
    return digest.hexdigest()


def hash_label(full_hash: str) -> str:
    """As much of a hash as fits into a label."""
    return full_hash[:_LABEL_LENGTH]


def revision_name(composition: str, full_hash: str) -> str:
    """The name of the revision with this hash."""
    return f"{composition}-{full_hash[:_NAME_LENGTH]}"


def new_revision(composition: Object, number: int) -> Object:
    """The revision to create for a Composition as it is now."""
    root = Fields(composition, error=CompositionError)
    metadata = root.object("metadata")
    name, full_hash = metadata.text("name"), composition_hash(composition)
    # The Composition's own labels come last and win, as they do in Crossplane.
    labels = {
        COMPOSITION_NAME: name,
        COMPOSITION_HASH: hash_label(full_hash),
        **metadata.string_map("labels"),
    }
    revision: Object = {
        "name": revision_name(name, full_hash),
        "labels": labels,
        "ownerReferences": [owner_reference(composition)],
    }
    annotations = metadata.string_map("annotations")
    if annotations:
        revision["annotations"] = annotations
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "CompositionRevision",
        "metadata": revision,
        "spec": {**decode_spec(composition), "revision": number},
    }


def owner_reference(composition: Object) -> Object:
    """How a revision names the Composition that controls it."""
    root = Fields(composition, error=CompositionError)
    metadata = root.object("metadata")
    api_version = root.text("apiVersion") or "apiextensions.crossplane.io/v1"
    return as_controller(
        reference_to(api_version, "Composition", metadata.text("name"), metadata.text("uid"))
    )

"""Reading the metadata of any object, and what a composed resource inherits from its composite resource.

Functions may put anything where metadata belongs. What has the wrong type reads as absent, as it does for
the API machinery of Kubernetes.
"""

from typing import Any, NamedTuple

from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.owner_references import as_controller, reference_to

COMPOSITE_LABEL = "crossplane.io/composite"
CLAIM_NAME_LABEL = "crossplane.io/claim-name"
CLAIM_NAMESPACE_LABEL = "crossplane.io/claim-namespace"
RESOURCE_NAME_ANNOTATION = "crossplane.io/composition-resource-name"
PAUSED_ANNOTATION = "crossplane.io/paused"


def metadata_of(obj: Object) -> Object:
    """The object's metadata; empty when it has none."""
    metadata = obj.get("metadata")
    return metadata if type(metadata) is dict else {}


def text_in(fields: Object, key: str) -> str:
    """A string field; empty when it is absent or no string."""
    value = fields.get(key)
    return value if type(value) is str else ""


def group_kind(obj: Object) -> tuple[str, str]:
    """The object's API group and kind: versions of a kind are the same objects."""
    return api_group(text_in(obj, "apiVersion")), text_in(obj, "kind")


def name_of(obj: Object) -> str:
    """The object's name."""
    return text_in(metadata_of(obj), "name")


def namespace_of(obj: Object) -> str:
    """The object's namespace."""
    return text_in(metadata_of(obj), "namespace")


def uid_of(obj: Object) -> str:
    """The object's UID."""
    return text_in(metadata_of(obj), "uid")


def labels_of(obj: Object) -> dict[str, str]:
    """The object's labels."""
    return string_map(metadata_of(obj).get("labels"))


def annotations_of(obj: Object) -> dict[str, str]:
    """The object's annotations."""
    return string_map(metadata_of(obj).get("annotations"))


def string_map(value: Any) -> dict[str, str]:
    """The value if it is a map of strings only, else an empty map."""
    if type(value) is not dict:
        return {}
    for item in value.values():
        if type(item) is not str:
            return {}
    return value


def with_annotation(obj: Object, name: str, value: str) -> Object:
    """The object with an annotation set."""
    metadata = metadata_of(obj)
    return {**obj, "metadata": {**metadata, "annotations": {**annotations_of(obj), name: value}}}


def is_paused(obj: Object) -> bool:
    """Whether the object's annotation says that it is not to be reconciled."""
    return annotations_of(obj).get(PAUSED_ANNOTATION) == "true"


def is_being_deleted(obj: Object) -> bool:
    """Whether the object goes as soon as it has no finalizers."""
    return bool(metadata_of(obj).get("deletionTimestamp"))


def finalizers_of(obj: Object) -> list[str]:
    """What keeps the object from going; a list of its own."""
    return list(metadata_of(obj).get("finalizers") or ())


def owner_reference(owner: Object, *, controller: bool = True) -> Object:
    """What makes an object go with its owner, as its controller or as one owner of several."""
    reference = reference_to(
        text_in(owner, "apiVersion"), text_in(owner, "kind"), name_of(owner), uid_of(owner)
    )
    return as_controller(reference) if controller else reference


def controller_of(obj: Object) -> Object | None:
    """The owner reference of the object's controller."""
    references = metadata_of(obj).get("ownerReferences")
    if type(references) is list:
        for reference in references:
            if type(reference) is dict and reference.get("controller") is True:
                return reference
    return None


def is_controlled_by_another(obj: Object, uid: str) -> bool:
    """Whether the object has a controller that is not the object of this UID."""
    controller = controller_of(obj)
    return controller is not None and controller.get("uid") != uid


class Owner(NamedTuple):
    """What every resource composed for one composite resource is given; made once a run."""

    namespace: str
    uid: str
    prefix: str
    labels: dict[str, str]
    reference: Object


def owner_from(xr: Object) -> Owner:
    """What the composite resource hands down."""
    labels = labels_of(xr)
    prefix = labels.get(COMPOSITE_LABEL, "")
    inherited = {COMPOSITE_LABEL: prefix}
    if labels.get(CLAIM_NAME_LABEL) and labels.get(CLAIM_NAMESPACE_LABEL):
        inherited[CLAIM_NAME_LABEL] = labels[CLAIM_NAME_LABEL]
        inherited[CLAIM_NAMESPACE_LABEL] = labels[CLAIM_NAMESPACE_LABEL]
    return Owner(namespace_of(xr), uid_of(xr), prefix, inherited, owner_reference(xr))

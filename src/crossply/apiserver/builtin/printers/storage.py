"""The cells of volumes, claims and their classes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.printers.metadata import age_of, is_going, name_of
from crossply.values import Object

_MODES = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)
_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _modes(modes: Any) -> str:
    return ",".join(short for mode, short in _MODES if mode in (modes or ()))


def _annotations(obj: Object) -> Object:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _phase(obj: Object) -> str:
    return "Terminating" if is_going(obj) else str((obj.get("status") or {}).get("phase", ""))


def _class_of(obj: Object) -> str:
    return str(_annotations(obj).get(_CLASS) or (obj.get("spec") or {}).get("storageClassName", ""))


def _volume(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    claim = spec.get("claimRef")
    return [
        name_of(obj),
        (spec.get("capacity") or {}).get("storage", "0"),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _class_of(obj),
        spec.get("volumeAttributesClassName", "<unset>"),
        (obj.get("status") or {}).get("reason", ""),
        age_of(obj, now),
        spec.get("volumeMode", "<unset>"),
    ]


def _claim(obj: Object, now: datetime) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    bound = bool(spec.get("volumeName"))
    return [
        name_of(obj),
        _phase(obj),
        spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "0") if bound else "",
        _modes(status.get("accessModes")) if bound else "",
        _class_of(obj),
        spec.get("volumeAttributesClassName", "<unset>"),
        age_of(obj, now),
        spec.get("volumeMode", "<unset>"),
    ]


def _storage_class(obj: Object, now: datetime) -> list[Any]:
    default = any(_annotations(obj).get(key) == "true" for key in _DEFAULT_CLASS)
    return [
        name_of(obj) + (" (default)" if default else ""),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy", "Delete"),
        obj.get("volumeBindingMode", "Immediate"),
        bool(obj.get("allowVolumeExpansion")),
        age_of(obj, now),
    ]


def _attributes_class(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), obj.get("driverName", ""), age_of(obj, now)]


def _driver(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    requests = spec.get("tokenRequests")
    audiences = ",".join(request.get("audience", "") for request in requests or ())
    return [
        name_of(obj),
        spec.get("attachRequired", True),
        spec.get("podInfoOnMount", False),
        spec.get("storageCapacity", False),
        "<unset>" if requests is None else audiences,
        spec.get("requiresRepublish", False),
        ",".join(spec.get("volumeLifecycleModes") or ()) or "<none>",
        age_of(obj, now),
    ]


def _csi_node(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), len((obj.get("spec") or {}).get("drivers") or ()), age_of(obj, now)]


def _attachment(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        name_of(obj),
        spec.get("attacher", ""),
        (spec.get("source") or {}).get("persistentVolumeName", ""),
        spec.get("nodeName", ""),
        bool((obj.get("status") or {}).get("attached")),
        age_of(obj, now),
    ]


CELLS = {
    ("", "persistentvolumes"): _volume,
    ("", "persistentvolumeclaims"): _claim,
    ("storage.k8s.io", "storageclasses"): _storage_class,
    ("storage.k8s.io", "volumeattributesclasses"): _attributes_class,
    ("storage.k8s.io", "csidrivers"): _driver,
    ("storage.k8s.io", "csinodes"): _csi_node,
    ("storage.k8s.io", "volumeattachments"): _attachment,
}

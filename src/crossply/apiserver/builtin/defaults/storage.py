"""Defaults of volumes, claims and storage classes."""

from __future__ import annotations

from crossply.apiserver.builtin.defaults.pods import setting

_CORE, _STORAGE = "io.k8s.api.core.v1", "io.k8s.api.storage.v1"

DEFAULTS = {
    f"{_CORE}.PersistentVolumeSpec": setting(persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem"),
    f"{_CORE}.PersistentVolumeStatus": setting(phase="Pending"),
    f"{_CORE}.PersistentVolumeClaimSpec": setting(volumeMode="Filesystem"),
    f"{_CORE}.PersistentVolumeClaimStatus": setting(phase="Pending"),
    f"{_STORAGE}.StorageClass": setting(reclaimPolicy="Delete", volumeBindingMode="Immediate"),
    f"{_STORAGE}.CSIDriverSpec": setting(
        attachRequired=True,
        podInfoOnMount=False,
        storageCapacity=False,
        fsGroupPolicy="ReadWriteOnceWithFSType",
        volumeLifecycleModes=["Persistent"],
        requiresRepublish=False,
        seLinuxMount=False,
    ),
}

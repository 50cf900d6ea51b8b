"""Defaults of Pods and of every part of a Pod template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.values import Object
from crossply.values.deepcopy import deepcopy

_CORE = "io.k8s.api.core.v1"
_NOT_A_SOURCE = {"name"}
_DEFAULT_MODE = 0o644


def image_tag(image: str) -> str:
    """The tag of an image; `latest` without a tag or digest."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return tag or ("" if digest else "latest")


def pull_policy(image: str) -> str:
    """The default pull policy: Always if the tag is `latest`."""
    return "Always" if image_tag(image) == "latest" else "IfNotPresent"


def _container(container: Object) -> None:
    container.setdefault("imagePullPolicy", pull_policy(container.get("image", "")))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")


def _pod_spec(spec: Object) -> None:
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    # The deprecated serviceAccount has the same value as serviceAccountName.
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    if spec.get("hostNetwork"):
        _host_ports(spec)


def _host_ports(spec: Object) -> None:
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        for port in container.get("ports") or ():
            port.setdefault("hostPort", port.get("containerPort", 0))


def _pod(pod: Object) -> None:
    spec = pod["spec"]
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        resources = container.get("resources") or {}
        if resources.get("limits"):
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}
    spec.setdefault("enableServiceLinks", True)


def _volume(volume: Object) -> None:
    if set(volume) <= _NOT_A_SOURCE:
        volume["emptyDir"] = {}
    image = volume.get("image")
    if image:
        image.setdefault("pullPolicy", pull_policy(image.get("reference", "")))


def _mode(source: Object) -> None:
    source.setdefault("defaultMode", _DEFAULT_MODE)


def setting(**values: Any) -> Callable[[Object], None]:
    """A function that sets missing fields to values."""

    def fill(obj: Object) -> None:
        for key, value in values.items():
            if key not in obj:
                obj[key] = deepcopy(value)

    return fill


DEFAULTS = {
    f"{_CORE}.Container": _container,
    f"{_CORE}.EphemeralContainer": _container,
    f"{_CORE}.PodSpec": _pod_spec,
    f"{_CORE}.Pod": _pod,
    f"{_CORE}.Volume": _volume,
    f"{_CORE}.SecretVolumeSource": _mode,
    f"{_CORE}.ConfigMapVolumeSource": _mode,
    f"{_CORE}.DownwardAPIVolumeSource": _mode,
    f"{_CORE}.ProjectedVolumeSource": _mode,
    f"{_CORE}.ServiceAccountTokenProjection": setting(expirationSeconds=3600),
    f"{_CORE}.HostPathVolumeSource": setting(type=""),
    f"{_CORE}.ObjectFieldSelector": setting(apiVersion="v1"),
    f"{_CORE}.HTTPGetAction": setting(path="/", scheme="HTTP"),
    f"{_CORE}.GRPCAction": setting(service=""),
    f"{_CORE}.Probe": setting(timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3),
}

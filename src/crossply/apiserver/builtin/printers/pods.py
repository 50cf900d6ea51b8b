"""The cells of Pods: ready containers, status, restarts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.printers.metadata import age_of, is_going, name_of
from crossply.apiserver.tables.human_duration import since
from crossply.values import Object
from crossply.values.timestamps import parse_timestamp

_TERMINAL = ("Failed", "Succeeded")


class _Summary:
    """The state of a Pod's containers."""

    __slots__ = ("errors", "last_restart", "ready", "reason", "restarts", "running")

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.ready = 0
        self.restarts = 0
        self.last_restart = ""
        self.running = False
        self.errors = ""

    def count_restarts(self, container: Object) -> None:
        self.restarts += container.get("restartCount") or 0
        finished = ((container.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or ""
        last, other = parse_timestamp(self.last_restart), parse_timestamp(finished)
        if other is not None and (last is None or last < other):
            self.last_restart = finished


def _pod(pod: Object, now: datetime) -> list[Any]:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    summary = _summarise(pod, spec, status)
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts = f"{summary.restarts} ({since(summary.last_restart, now)} ago)"
    total = len(spec.get("containers") or ()) + len(_sidecars(spec))
    addresses = status.get("podIPs") or [{}]
    return [
        name_of(pod),
        f"{summary.ready}/{total}",
        summary.reason,
        restarts,
        age_of(pod, now),
        addresses[0].get("ip") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        _gates(spec, status),
    ]


def _summarise(pod: Object, spec: Object, status: Object) -> _Summary:
    conditions = status.get("conditions") or ()
    summary = _Summary(status.get("reason") or status.get("phase") or "")
    if any(c.get("type") == "PodScheduled" and c.get("reason") == "SchedulingGated" for c in conditions):
        summary.reason = "SchedulingGated"
    sidecar_restarts = _Summary("")
    initialising = _initial_containers(summary, sidecar_restarts, spec, status)
    if not initialising or _is_true(conditions, "Initialized"):
        summary.restarts, summary.last_restart = sidecar_restarts.restarts, sidecar_restarts.last_restart
        _main_containers(summary, status)
    if is_going(pod):
        if status.get("reason") == "NodeLost":
            summary.reason = "Unknown"
        elif status.get("phase") not in _TERMINAL:
            summary.reason = "Terminating"
    return summary


def _sidecars(spec: Object) -> set[str]:
    return {
        container.get("name", "")
        for container in spec.get("initContainers") or ()
        if container.get("restartPolicy") == "Always"
    }


def _initial_containers(summary: _Summary, sidecars: _Summary, spec: Object, status: Object) -> bool:
    """Visit the init containers until one is not done; returns whether there was one."""
    names = _sidecars(spec)
    for index, container in enumerate(status.get("initContainerStatuses") or ()):
        summary.count_restarts(container)
        is_sidecar = container.get("name") in names
        if is_sidecar:
            sidecars.count_restarts(container)
        state = container.get("state") or {}
        terminated, waiting = state.get("terminated"), state.get("waiting") or {}
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if is_sidecar and container.get("started"):
            summary.ready += bool(container.get("ready"))
            continue
        if terminated is not None:
            summary.reason = "Init:" + _ending(terminated)
        elif waiting.get("reason", "PodInitializing") not in ("", "PodInitializing"):
            summary.reason = "Init:" + waiting["reason"]
        else:
            summary.reason = f"Init:{index}/{len(spec.get('initContainers') or ())}"
        return True
    return False


def _ending(terminated: Object) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    return (
        f"Signal:{terminated['signal']}"
        if terminated.get("signal")
        else f"ExitCode:{terminated.get('exitCode') or 0}"
    )


def _main_containers(summary: _Summary, status: Object) -> None:
    for container in reversed(status.get("containerStatuses") or ()):
        summary.count_restarts(container)
        state = container.get("state") or {}
        terminated = state.get("terminated")
        if (state.get("waiting") or {}).get("reason"):
            summary.reason = state["waiting"]["reason"]
        elif terminated is not None:
            summary.reason = _ending(terminated)
            if terminated.get("exitCode"):
                summary.errors = summary.reason
        elif container.get("ready") and state.get("running") is not None:
            summary.running = True
            summary.ready += 1
    if summary.reason == "Completed":
        if summary.running and _is_true(status.get("conditions") or (), "Ready"):
            summary.reason = "Running"
        elif summary.errors:
            summary.reason = summary.errors
        elif summary.running:
            summary.reason = "NotReady"


def _is_true(conditions: Any, kind: str) -> bool:
    return any(
        condition.get("type") == kind and condition.get("status") == "True" for condition in conditions
    )


def _gates(spec: Object, status: Object) -> str:
    gates = spec.get("readinessGates") or ()
    if not gates:
        return "<none>"
    met = sum(_is_true(status.get("conditions") or (), gate.get("conditionType", "")) for gate in gates)
    return f"{met}/{len(gates)}"


def row_conditions(pod: Object) -> list[Object]:
    """The table conditions of a Pod that will not run again."""
    phase = (pod.get("status") or {}).get("phase")
    if phase == "Succeeded":
        message = "The pod has completed successfully."
    elif phase == "Failed":
        message = "The pod failed."
    else:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": message}]


CELLS = {("", "pods"): _pod}

"""RuntimeConfig of crossply.dev: how the container of a function is run where there is no Deployment.

It has what a DeploymentRuntimeConfig has no field for. A Function names one in `spec.runtimeConfigRef`, or in
an annotation where another program also runs the same Function.
"""

from __future__ import annotations

from crossply.control.definitions.cluster_scoped_crd_template import cluster_crd
from crossply.kube.kind import Kind
from crossply.schema.crd_crossplane_fields import age_column, choice, column, text
from crossply.values import Object

CONTAINER_CONFIG = Kind("crossply.dev", "v1alpha1", "RuntimeConfig", "runtimeconfigs", False)
ANNOTATION = "crossply.dev/runtime-config"
"""The annotation of a Function that names its RuntimeConfig; it counts more than `spec.runtimeConfigRef`."""

_AMOUNT: Object = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
    "pattern": r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[munkMGTPE]|([eE][+-]?[0-9]+))?$",
}


def container_config_crd() -> Object:
    """Its CRD."""
    columns = [
        column("MEMORY", ".spec.limits.memory"),
        column("CPU", ".spec.limits.cpu"),
        column("NETWORK", ".spec.network"),
        age_column(),
    ]
    schema = {"type": "object", "properties": {"spec": _spec()}}
    return cluster_crd(CONTAINER_CONFIG, schema, columns, has_status=False)


def _spec() -> Object:
    limits: Object = {
        "memory": {**_AMOUNT, "description": "All its processes and temporary files together."},
        "cpu": {**_AMOUNT, "description": "Cores."},
        "pids": _number(1, "Processes and threads."),
        "scratch": {**_AMOUNT, "description": "Temporary files, which are in memory."},
    }
    return {
        "type": "object",
        "properties": {
            "limits": {"type": "object", "properties": limits},
            "network": {
                **choice("Isolated", "Runner", default="Isolated"),
                "description": "Isolated: its own loopback only. Runner: the network of the control plane.",
            },
            "args": {
                "type": "array",
                "items": text(),
                "description": "Arguments after the image's entry point, instead of its command.",
            },
            "env": {"type": "array", "items": _variable(), "description": "Over the image's own."},
            "idleSeconds": _number(1, "The container is stopped after so many seconds without a call."),
            "startSeconds": _number(1, "How long it may take until it accepts calls."),
            "warm": {
                "type": "boolean",
                "description": "Start the container with its revision, not at the first call.",
            },
        },
    }


def _variable() -> Object:
    return {"type": "object", "required": ["name"], "properties": {"name": text(), "value": text()}}


def _number(least: int, description: str) -> Object:
    return {"type": "integer", "minimum": least, "description": description}

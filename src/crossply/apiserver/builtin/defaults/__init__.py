"""The defaults that the real server fills in, by the type that they belong to.

A function gets the object as it has been read so far (its parts have their defaults already) and fills in
what is missing. Types are named by their definition.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.apiserver.builtin.defaults import configuration, network, pods, workloads
from crossply.values import Object

DEFAULTS: dict[str, Callable[[Object], None]] = {
    **pods.DEFAULTS,
    **workloads.DEFAULTS,
    **workloads.JOB_DEFAULTS,
    **configuration.DEFAULTS,
    **network.DEFAULTS,
    **configuration.STORAGE_DEFAULTS,
    **workloads.SCALING_DEFAULTS,
    **configuration.ADMISSION_DEFAULTS,
}

"""The defaults that kube-apiserver sets, by type.

A function gets the object (its parts are defaulted already) and sets what is missing. Types are named by
their definition.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.apiserver.builtin.defaults import other_kinds as configuration
from crossply.apiserver.builtin.defaults import pods, workloads
from crossply.values import Object

DEFAULTS: dict[str, Callable[[Object], None]] = {
    **pods.DEFAULTS,
    **workloads.DEFAULTS,
    **workloads.JOB_DEFAULTS,
    **configuration.DEFAULTS,
    **configuration.NETWORK_DEFAULTS,
    **configuration.STORAGE_DEFAULTS,
    **workloads.SCALING_DEFAULTS,
    **configuration.ADMISSION_DEFAULTS,
}

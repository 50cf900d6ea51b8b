"""The options of a control plane."""

from __future__ import annotations

from typing import NamedTuple

from crossply.control.calls.pipeline_function_calls import CALL_SECONDS
from crossply.control.calls.runner_factory import CallSettings
from crossply.control.controller_context import MOST_COMPOSED, CircuitLimits
from crossply.control.package_manager.settings import PackageSettings
from crossply.control.recorded_run_service import RunServing
from crossply.control.runtimes.runtime_set import RuntimeSettings
from crossply.functions.host_access_policy import HostAccess
from crossply.runs.recorder import RunSettings
from crossply.values.backoff import RetryPauses


class Options(NamedTuple):
    """How much at once, and how often."""

    concurrency: int = 32
    """So many objects of a kind are reconciled at once."""
    most_composed: int = MOST_COMPOSED
    """A composite resource is made of no more resources than this."""
    shortest_poll: float = 1.0
    """The annotation for polling cannot ask for fewer seconds."""
    retry: RetryPauses = RetryPauses()
    """How long a reconcile that failed waits for the next, unless a watch wakes it."""
    circuit: CircuitLimits = CircuitLimits()
    function_seconds: float = CALL_SECONDS
    """How long a call of a function may take."""
    calls: CallSettings = CallSettings()
    """How many calls of a function at once, and what is remembered of their answers."""
    rollout: bool = True
    """Whether several revisions of a function may be active, and steps may choose among them."""
    extra_resources: bool = True
    """Whether functions get the resources that they ask for."""
    operations: bool = False
    """Whether there are Operations, and what makes them."""
    converts_crds: bool = True
    """Whether CRDs of Providers become ManagedResourceDefinitions."""
    activation: tuple[str, ...] = ("*",)
    """Which kinds of Providers the policy `default` activates; empty for no such policy."""
    keeper: str = ""
    """The user that writes CRDs, roles and revisions; empty for who composes, too."""
    packages: PackageSettings = PackageSettings()
    """Where packages come from, and where they are kept."""
    images: str = ""
    """The directory for images of functions that run in containers here; empty for where the user's are."""
    runtimes: RuntimeSettings = RuntimeSettings()
    """Where packages run."""
    runs: RunSettings | None = None
    """Where runs of pipelines are recorded; None to record none."""
    run_serving: RunServing = RunServing()
    """How recorded runs are served."""
    inspector_socket: str | None = None
    """Where a pipeline inspector listens; None for none."""
    host_access: HostAccess = HostAccess()
    """What Functions may use of the machine that the control plane runs on."""

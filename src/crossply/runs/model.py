"""A recorded run of a pipeline: its triggers, what each step was sent and answered, and what it changed.

Objects are plain JSON values, as users write them: whole numbers are integers. Secrets are not among them:
each secret value is replaced by a placeholder, `redacted-` and eight characters, the same one wherever it
occurred. `Run.world` has the same run in the engine's own types, for replay.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.events import StatusCondition
from crossply.compose.function_messages import Requirements
from crossply.compose.reconcile import Settings
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition
from crossply.values import Object

COMPOSED, FAILED, PAUSED, DELETED, INTERRUPTED = "Composed", "Failed", "Paused", "Deleted", "Interrupted"
"""The outcomes of a run. One that met a write conflict, or has to wait for something, is interrupted: another
run follows at once."""

APPLIED, DELETE, SAVED, STATUS, EVENT = "applied", "deleted", "wrote", "wrote status", "recorded event"
PUBLISHED, RELEASED = "published secret", "removed finalizer"
"""The verbs of effects."""


class Subject(NamedTuple):
    """The composite resource or Operation whose pipeline ran."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class RunSummary(NamedTuple):
    """A run in one line."""

    id: str
    """Twelve letters and digits that sort by time."""
    subject: Subject
    started: float
    """Seconds since 1970."""
    seconds: float
    triggers: tuple[str, ...]
    """What triggered it: `XR edited (generation 3)`, `ConfigMap default/a changed`, `poll` and so on."""
    outcome: str
    problem: str
    """Why it failed; empty where it did not."""
    code: str
    """The code of the problem, such as CP-207."""
    composition: str
    revision: str
    changes: tuple[str, ...]
    """What it changed, one phrase each: `applied ConfigMap default/a`."""
    steps: int
    """How many times a step ran."""
    repeats: int = 0
    """How many later runs changed nothing."""
    replica: str = ""
    """The replica that keeps the run."""


class FieldChange(NamedTuple):
    """One field that an effect changed; None where it is not there."""

    path: str
    old: Any
    new: Any


class ObjectRef(NamedTuple):
    """What an effect was about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    resource_name: str = ""
    """Its name in the pipeline; empty for the composite resource."""


class EffectRun(NamedTuple):
    """Something that the run did to the cluster."""

    verb: str
    """See `APPLIED` and its neighbours."""
    ref: ObjectRef
    changes: tuple[FieldChange, ...] = ()
    """Empty where a write was decided on and found to be in place already."""
    refused: str = ""
    """Why the API server did not take it."""
    message: str = ""
    """The text of an event."""
    offset: float = 0.0
    """Seconds since the run started."""
    seconds: float = 0.0


class Round(NamedTuple):
    """One call of a step's function."""

    request: Object
    """A RunFunctionRequest in protobuf's JSON form; connection details and credentials are placeholders."""
    response: Object
    """A RunFunctionResponse in the same form; empty where the function did not answer."""
    seconds: float
    cached: bool
    """Whether the response was in the cache."""
    requirements: Object
    """The requirements in the response: `resources`, `extraResources` and `schemas`, each by name."""
    required: Object
    """What was read for these requirements: objects by the same names."""
    offset: float = 0.0
    """Seconds since the run started."""
    problem: str = ""
    """Why the function did not answer."""


class StepRun(NamedTuple):
    """One step of the pipeline, as it ran."""

    name: str
    function: str
    function_revision: str
    """Empty for functions without revisions, such as those in files."""
    seconds: float
    """In calls of the function."""
    offset: float
    """Seconds since the run started."""
    rounds: tuple[Round, ...]
    results: tuple[Object, ...]
    """`severity`, `message`, `reason` and `target` as the protocol names them."""
    conditions: tuple[Object, ...]
    desired_before: Object
    """The desired state (`composite` and `resources`) that the step was given."""
    desired_after: Object
    context_before: Object
    context_after: Object
    pipeline: int = 1
    """2 where the pipeline ran once more in the same run, to observe what it had created."""
    problem: str = ""
    """Why the step failed."""


class Exchange(NamedTuple):
    """One effect of the engine, and its answer, in the types of `compose.effects`.

    The composite resource that an effect carries along is the one at the start of the run, except where it is
    written: in `SaveComposite` and `WriteStatus`.
    """

    effect: Any
    answer: Any
    problem: CrossplyError | None = None
    """What was thrown into the engine instead of an answer."""
    offset: float = 0.0
    seconds: float = 0.0


COMPOSITE, OPERATION = "composite", "operation"


class World(NamedTuple):
    """All that decided a run: `compose.reconcile.reconcile` with these answers yields the same effects."""

    engine: str
    """COMPOSITE, or OPERATION for `compose.operation_run.operate`."""
    xr: Object
    """The composite resource, or the Operation, at the start."""
    machinery: Machinery
    definition: Definition | None
    finalizer: str | None
    responsive: StatusCondition
    capabilities: tuple[int, ...]
    context: Object
    required: dict[str, Requirements]
    """What each step required in the run before."""
    times: tuple[str, ...]
    """What each call of `Settings.now` returned, in order."""
    exchanges: tuple[Exchange, ...]
    interruption: str = ""
    """What ended the run without a report, such as a write conflict; empty where it came to its end."""

    def settings(self) -> Settings:
        """The settings of the run, with a clock that returns the recorded times, then the last."""
        times = iter(self.times)
        last = self.times[-1] if self.times else ""
        return Settings(
            self.machinery,
            lambda: next(times, last),
            self.definition,
            self.finalizer,
            self.responsive,
            self.capabilities,
            self.context,
        )


class Run(NamedTuple):
    """A whole run."""

    summary: RunSummary
    selection: str
    """Why this Composition and this revision."""
    composite: Object
    """The composite resource as functions saw it."""
    observed: dict[str, Object]
    """The composed resources that existed, by their names in the pipeline."""
    steps: tuple[StepRun, ...]
    effects: tuple[EffectRun, ...]
    world: World
    redacted: int
    """How many secret values were replaced by placeholders."""

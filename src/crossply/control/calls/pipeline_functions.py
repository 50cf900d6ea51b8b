"""The functions that pipelines name: Functions of the cluster and their revisions, each bound to its runner.

Which revision a step calls is decided in `choosing`, how it is called in `opening`; who has to know when that
changes is in `following`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from crossply.compose.messages import Request
from crossply.compose.metadata import name_of
from crossply.control.calls.bound import Bound
from crossply.control.calls.choosing import Abilities, Choices, Wanted
from crossply.control.calls.container_steps import ContainerSteps
from crossply.control.calls.following import Callers, Wake
from crossply.control.calls.opening import Opening
from crossply.control.calls.reuse import Answer, Answers
from crossply.control.calls.sources import Sources
from crossply.control.calls.ways import Way
from crossply.functions.failures import FunctionNotRunning
from crossply.kinds.composition import NATIVE_FUNCTION, Step
from crossply.values import Object

CALL_SECONDS = 120.0
"""How long a function may take; the time of a whole reconcile."""

START_SECONDS = 5.0
"""How long a call waits for a revision that is known not to run: it may be starting."""


class PipelineFunctions:
    """Calls the functions of steps."""

    def __init__(self, seconds: float = CALL_SECONDS, rollout: bool = True) -> None:
        """With `rollout`, steps may say which revision of a function they call."""
        self.opening = Opening()
        """How functions that run elsewhere are reached."""
        self.containers = ContainerSteps()
        """Who runs the steps that name an image instead of a Function."""
        self._seconds = seconds
        self._choices = Choices(rollout)
        self._callers = Callers(self._choices)
        self._chosen: dict[Wanted, Bound] = {}
        self._bound: dict[Way, Bound] = {}
        self.answers = Answers()
        """What functions said, as long as it is good."""
        self.sources = Sources(self._edited)
        """The files of functions that are being written."""
        self._subscribers: list[Callable[[str], None]] = []
        self._abilities: dict[str, Abilities] = {}
        self._awaited: dict[str, str] = {}
        """The revisions that were not called because they do not run, and their functions."""

    def put(self, function: Object) -> None:
        """Know a Function, or know it as it is now."""
        self._changed([self._choices.put(function)])

    def remove(self, name: str) -> None:
        """Forget a Function."""
        self._choices.remove(name)
        self._changed([name])

    def put_revision(self, revision: Object, is_new: bool = False) -> None:
        """Know a FunctionRevision, or know it as it is now; a new one is not called before it runs."""
        self._changed(self._choices.put_revision(revision, is_new))
        if self._choices.not_running(name_of(revision)) is None:
            self._wake_awaiting(name_of(revision))

    def remove_revision(self, name: str) -> None:
        """Forget a FunctionRevision."""
        self._changed(self._choices.remove_revision(name))
        self._wake_awaiting(name)

    def follow(self, who: Hashable, steps: tuple[Step, ...], wake: Wake) -> None:
        """From now on, wake `who` when another revision is called for one of these steps."""
        self._callers.follow(who, steps, wake)

    def forget(self, who: Hashable) -> None:
        """It calls nothing any more."""
        self._callers.forget(who)

    def subscribe(self, notice: Callable[[str], None]) -> None:
        """Hear of every function of which other revisions are active, or able to do other things."""
        self._subscribers.append(notice)

    def lacking(self, step: Step, capability: str) -> str:
        """The revision that a step calls, if it says what it can do and this is not part of it."""
        return self._choices.lacking(self._choices.wanted(step), capability)

    async def call(self, step: Step, request: Request, anew: bool = False) -> Answer:
        """Ask the step's function, unless its last answer is still good and nobody wants to ask anew."""
        if step.container is not None:
            return await self.containers.call(step, request, self._seconds)
        wanted = self._choices.wanted(step)
        bound = self._chosen.get(wanted) or self._bind(wanted)
        if bound.pure or anew:
            return await self._ask(bound, step, request)
        known = self.answers.find(bound.key, request, bound.kept_as)
        bound.meter.looked_up(known is not None)
        if known is not None:
            return known
        answer = await self._ask(bound, step, request)
        return self.answers.keep(bound.key, request, answer.response, bound.kept_as)

    async def _ask(self, bound: Bound, step: Step, request: Request) -> Answer:
        """Call a function; one that is known not to run only if something answers there soon.

        What its condition says can be out of date, so it is no reason not to try.
        """
        revision, wait = bound.kept_as, min(START_SECONDS, self._seconds)
        if self._choices.not_running(revision) is not None and not await bound.is_ready(wait):
            reason = self._choices.not_running(revision)
            # It may have started meanwhile.
            if reason is not None:
                self._awaited[revision] = step.function
                raise _not_running(step.function, revision, reason)
        return await bound.call(step.name, request, self._seconds)

    def _wake_awaiting(self, revision: str) -> None:
        """Wake those whose call failed because a revision did not run."""
        function = self._awaited.pop(revision, None)
        if function is not None:
            self._callers.wake(function)

    def close(self) -> None:
        """Stop everything that was started for functions."""
        self._chosen.clear()
        for way in list(self._bound):
            self._unbind(way)
        self.containers.close()

    def _bind(self, wanted: Wanted) -> Bound:
        native = wanted.function == NATIVE_FUNCTION
        way = Way(NATIVE_FUNCTION, "") if native else self._choices.choose(wanted)
        bound = self._bound.get(way)
        if bound is None:
            bound = self._bound[way] = self.opening.native() if native else self.opening.open(way)
            self.sources.watch(way)
        self._chosen[wanted] = bound
        return bound

    def _changed(self, functions: Iterable[str]) -> None:
        for function in functions:
            for wanted in [each for each in self._chosen if each.function == function]:
                del self._chosen[wanted]
            live = self._choices.ways(function)
            for way in [each for each in self._bound if each.function == function and each not in live]:
                self._unbind(way)
            self._callers.changed(function)
            self._tell_abilities(function)

    def _tell_abilities(self, function: str) -> None:
        able = self._choices.abilities(function)
        if able != self._abilities.get(function, frozenset()):
            self._abilities[function] = able
            for notice in self._subscribers:
                notice(function)

    def _edited(self, function: str) -> None:
        """What it said is not what it would say now."""
        self.answers.forget()
        self._callers.wake(function)

    def _unbind(self, way: Way) -> None:
        self.answers.forget()
        self.sources.forget(way)
        self._bound.pop(way).close()


def _not_running(function: str, revision: str, reason: str) -> FunctionNotRunning:
    problem = f"its revision {revision} is not running: {reason}"
    command = f"kubectl describe functionrevision {revision}"
    return FunctionNotRunning(
        f'cannot run Function "{function}": {problem}; see {command}', hint=f"see why: {command}"
    )

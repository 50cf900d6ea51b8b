"""The response of a function. It starts with the desired state of earlier steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from crossply.compose import function_messages
from crossply.sdk.author_value_conversion import plain
from crossply.sdk.desired_resources import DesiredResources, DesiredState
from crossply.sdk.failures import ValueRefused
from crossply.sdk.request import Request
from crossply.sdk.request_interface import IncomingRequest, ResponseDraft
from crossply.sdk.resources import Desired, Resource
from crossply.values import Object

if TYPE_CHECKING:
    from datetime import timedelta

_SEVERITIES = {
    "Fatal": function_messages.SEVERITY_FATAL,
    "Warning": function_messages.SEVERITY_WARNING,
    "Normal": function_messages.SEVERITY_NORMAL,
}
_STATUSES = {
    "True": function_messages.STATUS_TRUE,
    "False": function_messages.STATUS_FALSE,
    "Unknown": function_messages.STATUS_UNKNOWN,
}
_SPELLED = {True: "True", False: "False", None: "Unknown"}
_WOULD_DROP = "that would drop what the steps before want"


class Result(NamedTuple):
    """A result: Normal, Warning or Fatal."""

    severity: str
    message: str
    reason: str | None = None
    claim: bool = False
    """Whether the claim gets it, too."""


class SetCondition(NamedTuple):
    """A status condition for the composite resource."""

    type: str
    status: str
    reason: str
    message: str | None = None
    claim: bool = False
    """Whether the claim gets it, too."""


class Response:
    """`rsp.desired`, `rsp.xr`, results, conditions, requirements, context, ttl and output."""

    __slots__ = (
        "_context",
        "_incoming",
        "_request",
        "_requirements",
        "_state",
        "_ttl",
        "_watched",
        "conditions",
        "output",
        "results",
    )

    def __init__(self, request: Request, incoming: IncomingRequest) -> None:
        self._request = request
        self._incoming = incoming
        self._state = DesiredState(incoming)
        self._context: Object | None = None
        self._requirements = function_messages.Requirements({}, {}, {})
        self._watched: dict[function_messages.ResourceRef, None] = {}
        self._ttl = 60 * function_messages.SECOND
        self.results: list[Result] = []
        self.conditions: list[SetCondition] = []
        self.output: Object | None = None
        """The output of an Operation, which its status shows."""

    @property
    def desired(self) -> DesiredResources:
        """The desired composed resources by name, including those of earlier steps."""
        return self._state.resources

    @desired.setter
    def desired(self, resources: Any) -> NoReturn:
        raise AttributeError(f"{_WOULD_DROP}: write rsp.desired[NAME] = {{...}}, or rsp.desired.update(...)")

    @property
    def xr(self) -> Desired:
        """The desired composite resource: set its `status`, its `connection` details, or `ready`."""
        return self._state.xr

    @xr.setter
    def xr(self, resource: Any) -> NoReturn:
        raise AttributeError(f"{_WOULD_DROP}: write rsp.xr.status[...] = ..., or rsp.xr.merge(...)")

    @property
    def context(self) -> Object:
        """The context for later steps, including that of earlier steps."""
        if self._context is None:
            self._context = self._incoming.context() or {}
        return self._context

    @context.setter
    def context(self, context: Any) -> NoReturn:
        raise AttributeError(f"{_WOULD_DROP}: write rsp.context[KEY] = ..., or rsp.context.update(...)")

    @property
    def ttl(self) -> float:
        """How many seconds the response may be cached; 60 by default."""
        return self._ttl / function_messages.SECOND

    @ttl.setter
    def ttl(self, ttl: float | timedelta) -> None:
        seconds = ttl if isinstance(ttl, int | float) else ttl.total_seconds()
        if not 0 <= seconds < 1e11:
            raise ValueRefused(f"a ttl of {seconds} seconds is not possible")
        self._ttl = round(seconds * function_messages.SECOND)

    def normal(self, message: str, *, reason: str | None = None, claim: bool = False) -> None:
        """Report an event of the composite resource, and of its claim if `claim` is true."""
        self.results.append(Result("Normal", str(message), reason, claim))

    def warning(self, message: str, *, reason: str | None = None, claim: bool = False) -> None:
        """Report a warning event; the run continues."""
        self.results.append(Result("Warning", str(message), reason, claim))

    def fatal(self, message: str, *, reason: str | None = None, claim: bool = False) -> None:
        """Report a fatal error. The run stops after this step, and nothing is changed.

        `raise Fatal(message)` does the same and also stops the function.
        """
        self.results.append(Result("Fatal", str(message), reason, claim))

    def condition(
        self,
        type: str,  # noqa: A002 - the API's own word
        status: bool | str | None,
        reason: str,
        message: str | None = None,
        *,
        claim: bool = False,
    ) -> None:
        """Set a status condition of the composite resource: True, False, or None for Unknown."""
        written = status if isinstance(status, str) else _SPELLED.get(status, "")
        if written not in _STATUSES:
            raise ValueRefused(f'the status of condition "{type}" is True, False or None, not {status!r}')
        self.conditions.append(SetCondition(type, written, reason, message, claim))

    def require(
        self,
        key: str,
        api_version: str,
        kind: str,
        *,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        namespace: str | None = None,
    ) -> list[Resource] | None:
        """Require a resource by name, resources by labels, or all of a kind.

        Returns None until they were fetched, when the function is called again; then a list, which is empty
        if none match.
        """
        if name is not None and labels is not None:
            raise ValueRefused(f'requirement "{key}" asks for a name and for labels: one of them is possible')
        selector = function_messages.ResourceSelector(
            api_version, kind, name, dict(labels) if labels is not None else None, namespace
        )
        self._requirements.resources[key] = selector
        resources = self._request.required.get(key)
        return None if resources is None else list(resources)

    def require_schema(self, key: str, api_version: str, kind: str) -> Object | None:
        """Require the OpenAPI schema of a kind: None until it was fetched, empty if there is none."""
        self._requirements.schemas[key] = function_messages.SchemaSelector(api_version, kind)
        return self._request.schemas.get(key)

    def watch(self, api_version: str, kind: str, name: str, *, namespace: str | None = None) -> None:
        """Run the pipeline again when this resource is created, changed or deleted.

        It need not exist. The function does not receive it: `require` does that, and watches it as well.
        Without a namespace it is a cluster-scoped resource, or one of that name in any namespace. Engines
        other than Crossply ignore this.
        """
        if not (api_version and kind and name):
            raise ValueRefused("a resource to watch needs an API version, a kind and a name")
        self._watched[function_messages.ResourceRef(api_version, kind, name, namespace)] = None

    def auto_ready(self, *names: str) -> list[str]:
        """Mark desired resources as ready whose observed ones are Ready: the named ones, or all.

        Resources with a readiness are not changed. Returns the names of those that are not ready.
        """
        waiting = []
        for name in names or tuple(self.desired):
            desired, observed = self.desired[name], self._request.observed.get(name)
            if desired.ready is None:
                desired.ready = True if observed is not None and observed.is_ready() else None
            if not desired.ready:
                waiting.append(name)
        return waiting

    def draft(self) -> ResponseDraft:
        """The response, ready to be encoded."""
        requirements = self._requirements._replace(watch_resources=tuple(self._watched))
        rest = function_messages.Response(
            results=tuple(map(_result, self.results)),
            requirements=requirements if any(requirements) else None,
            conditions=tuple(map(_condition, self.conditions)),
            ttl=self._ttl,
            tag=self._incoming.tag,
            output=None if self.output is None else plain(self.output),
        )
        return ResponseDraft(
            self._state.parts(), None if self._context is None else plain(self._context), rest
        )


def _result(result: Result) -> function_messages.Result:
    severity, message, reason, claim = result
    return function_messages.Result(_SEVERITIES[severity], message, reason, _target(claim))


def _condition(condition: SetCondition) -> function_messages.Condition:
    kind, status, reason, message, claim = condition
    return function_messages.Condition(kind, _STATUSES[status], reason, message, _target(claim))


def _target(claim: bool) -> int | None:
    return function_messages.TARGET_COMPOSITE_AND_CLAIM if claim else None

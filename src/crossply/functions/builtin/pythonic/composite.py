"""The class that programs extend."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import READY_FALSE, READY_TRUE
from crossply.functions.builtin.pythonic.composed_resources import Resources, ready_number
from crossply.functions.builtin.pythonic.conditions import UNSET, Conditions
from crossply.functions.builtin.pythonic.connection import ConnectionDetails, ConnectionSecret
from crossply.functions.builtin.pythonic.credentials import Capabilities, Credentials
from crossply.functions.builtin.pythonic.message import Message
from crossply.functions.builtin.pythonic.message_schema import MESSAGE_TYPES, REQUEST, RESPONSE
from crossply.functions.builtin.pythonic.required_resources import Requireds, Schemas
from crossply.functions.builtin.pythonic.results import Results

_TTL = 60
_ENVIRONMENT = "apiextensions.crossplane.io/environment"
_WATCHED = "ops.crossplane.io/watched-resource"
_NANOSECONDS = 1_000_000_000


class BaseComposite:
    """A composite resource that is composed: `compose` of a subclass changes the response."""

    connectionSecret = ConnectionSecret()
    connection = ConnectionDetails()

    def __init__(self, crossplane_v1: bool, request: dict[str, Any], logger: Any) -> None:
        self.crossplane_v1 = crossplane_v1
        self.request = Message(None, "request", MESSAGE_TYPES[REQUEST], request, "Function Request")
        response = {
            "meta": {"tag": request["meta"]["tag"], "ttl": {"seconds": _TTL}},
            "desired": request["desired"],
            "context": request["context"],
        }
        self.response = Message(None, "response", MESSAGE_TYPES[RESPONSE], response)
        self.logger = logger
        self.capabilities = Capabilities(self.request.meta.capabilities)
        self.parameters = self.request.input.parameters
        self.credentials = Credentials(self.request)
        self.context = self.response.context
        self.environment = self.context[_ENVIRONMENT]
        self.requireds = Requireds(self)
        self.watched = self.requireds[_WATCHED][0]
        self.schemas = Schemas(self)
        self.resources = Resources(self)
        self.autoReady = True
        self.usages = False
        self.unknownsFatal = False
        self._ready: Any = UNSET
        self._take_composite()

    def _take_composite(self) -> None:
        observed, desired = self.request.observed.composite, self.response.desired.composite
        self.observed = observed.resource
        self.desired = desired.resource
        self.apiVersion = self.observed.apiVersion
        self.kind = self.observed.kind
        self.metadata = self.observed.metadata
        self.spec = self.observed.spec
        self.status = self.desired.status
        self.output = self.response.output
        self.conditions = Conditions(observed, self.response)
        self.results = self.events = Results(self.response)

    @property
    def ttl(self) -> int | float:
        """How many seconds the response may be reused."""
        ttl = self.response.meta.ttl
        if ttl.nanos._value:
            return float(ttl.seconds) + float(ttl.nanos) / _NANOSECONDS
        return int(ttl.seconds)

    @ttl.setter
    def ttl(self, seconds: int | float) -> None:
        if not isinstance(seconds, int | float):
            raise ValueError("ttl must be an int or float")
        self.response.meta.ttl.seconds = int(seconds)
        self.response.meta.ttl.nanos = int((seconds - int(seconds)) * _NANOSECONDS)

    @property
    def ready(self) -> Any:
        if self._ready is not UNSET:
            return self._ready
        number = self.response.desired.composite.ready._value
        return {READY_TRUE: True, READY_FALSE: False}.get(number)

    @ready.setter
    def ready(self, ready: Any) -> None:
        self._ready = ready
        self.response.desired.composite.ready = ready_number(ready)

    def compose(self) -> Any:
        raise NotImplementedError

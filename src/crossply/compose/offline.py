"""Driving the engine without a cluster: answers come from a world of objects, and a way to call functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.compose.asks import (
    Ask,
    Call,
    FetchObject,
    FetchResources,
    FetchSchema,
    FetchSecret,
    Result,
    Work,
)
from crossply.compose.messages import Request, ResourceSelector, Response, SchemaSelector
from crossply.compose.world import World
from crossply.errors import CrossplyError
from crossply.kinds.composition import Step

CallFunction = Callable[[Step, Request], Response]


class Offline:
    """Answers from a world, and notes what was asked for."""

    __slots__ = ("_call", "required_resources", "required_schemas", "world")

    def __init__(self, world: World, call: CallFunction) -> None:
        self.world = world
        self._call = call
        self.required_resources: list[ResourceSelector] = []
        self.required_schemas: list[SchemaSelector] = []

    def answer(self, ask: Ask) -> Any:
        """The answer to one question."""
        if type(ask) is Call:
            return self._call(ask.step, ask.request)
        if type(ask) is FetchResources:
            self.required_resources.append(ask.selector)
            return self.world.select(ask.selector)
        if type(ask) is FetchSchema:
            self.required_schemas.append(ask.selector)
            return self.world.schema(ask.selector)
        if type(ask) is FetchSecret:
            return self.world.secret_data(ask.namespace, ask.name)
        if type(ask) is FetchObject:
            return self.world.get(ask.ref)
        # Without an API server every kind is taken to be namespaced.
        return True

    def version_hint(self) -> str:
        """What to do about resources that were asked for and are there in another version only."""
        for selector in self.required_resources:
            others = [] if self.world.select(selector) else self.world.other_versions(selector)
            if others:
                what = (
                    selector.kind
                    if selector.match_name is None
                    else f'{selector.kind} "{selector.match_name}"'
                )
                return f"{what} is there in apiVersion {others[0]}; use {selector.api_version}"
        return ""


def drive(work: Work[Result], answer: Callable[[Ask], Any]) -> Result:
    """Run the work to its end. An error while answering is thrown into the work, which adds its story."""
    try:
        ask = next(work)
        while True:
            try:
                reply = answer(ask)
            except CrossplyError as problem:
                ask = work.throw(problem)
            else:
                ask = work.send(reply)
    except StopIteration as end:
        result: Result = end.value
        return result

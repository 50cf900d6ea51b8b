"""Counting what a circuit lets through, and what it holds up."""

from __future__ import annotations

from crossply.record.metrics import CIRCUIT_EVENTS, CIRCUITS_CLOSED, CIRCUITS_OPENED


class CircuitMeter:
    """The figures of one circuit, under the name of its controller."""

    def __init__(self, controller: str) -> None:
        self.opened = CIRCUITS_OPENED.of(controller)
        self.closed = CIRCUITS_CLOSED.of(controller)
        self.allowed = CIRCUIT_EVENTS.of(controller, "Allowed")
        self.probed = CIRCUIT_EVENTS.of(controller, "HalfOpenAllowed")
        self.put_off = CIRCUIT_EVENTS.of(controller, "Dropped")

"""What functions say they can do, asked for the steps of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.control.calls.pipeline_functions import PipelineFunctions
from crossply.kinds.composition import Step


def lacking(functions: PipelineFunctions, steps: Iterable[Step], capability: str) -> str:
    """Which functions of the steps say what they can do, and not this; empty where there are none."""
    found = [
        f'function "{step.function}" (active revision "{name}") is missing required capabilities: '
        f"{capability}"
        for step in steps
        if (name := functions.lacking(step, capability))
    ]
    # Several steps may call the same function.
    return "; ".join(dict.fromkeys(found))

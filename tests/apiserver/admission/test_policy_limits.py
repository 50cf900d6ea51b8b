"""What the expressions of a policy may make of a small object."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.apiserver.admission import refusal, setting
from tests.support.memory_limit import run_within

LIMIT = 3 << 30


def _chain(first: str, step: str, count: int) -> list[dict[str, Any]]:
    steps = [step.format(f"variables.v{index}") for index in range(count)]
    return [{"name": f"v{index}", "expression": text} for index, text in enumerate([first, *steps])]


NUMBERS = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
GROWING = {
    "sums": _chain("'aaaaaaaa'", "{0} + {0} + {0} + {0}", 20),
    "replace": _chain("'aaaaaaaa'", "{0}.replace('a', 'aaaaaaaa')", 12),
    "join": _chain("'aaaaaaaa'", "[{0}, {0}, {0}, {0}].join('')", 20),
    "format": _chain("'aaaaaaaa'", "'%s%s%s%s'.format([{0}, {0}, {0}, {0}])", 20),
    "lists": _chain("[1, 2, 3, 4]", f"[{', '.join(['{0}'] * 16)}]", 8),
    "maps": _chain(NUMBERS, f"{NUMBERS}.map(x, {NUMBERS}.map(y, {{0}}))", 5),
}


async def evaluate(name: str) -> str:
    """Why a policy with growing variables refuses a widget."""
    variables = GROWING[name]
    with tempfile.TemporaryDirectory() as directory:
        async with setting(Path(directory)) as client:
            last = variables[-1]["name"]
            await client.policy("p", f"size(variables.{last}) > 0", variables=variables)
            return await refusal(client)


@pytest.mark.parametrize("name", GROWING)
def test_variables_that_grow_are_stopped_within_a_limit_of_memory(name: str) -> None:
    program = (
        "import asyncio\n"
        "from tests.apiserver.admission.test_policy_limits import evaluate\n"
        f"print(asyncio.run(evaluate({name!r})))\n"
        "print(most_memory() >> 20)"
    )
    refused, megabytes = run_within(LIMIT, program).splitlines()
    assert "operation cancelled: actual cost limit exceeded" in refused
    assert int(megabytes) < 1000

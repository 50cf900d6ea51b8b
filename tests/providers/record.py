"""Record what a provider on crossplane-runtime does in every scenario of the comparison.

    python -m tests.providers.record PROGRAM [--server real] [SCENARIO ...]

PROGRAM is what tests/providers/build.sh builds. Recorded are facts: conditions, events, writes and calls.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import sys
import tempfile

from tests.providers.comparison_scenarios import CRASHING, SCENARIOS
from tests.support import api_servers
from tests.support.providers.comparison import Quiet, stage

PACKAGE = pathlib.Path(__file__).parent / "go" / "package"
RECORDED = pathlib.Path(__file__).parent / "recorded"


async def record(
    command: list[str], kubeconfig: str, names: list[str], directory: pathlib.Path
) -> dict[str, object]:
    async with stage(kubeconfig, command, directory, PACKAGE) as scene:
        together = {name: SCENARIOS[name] for name in names if name not in CRASHING}
        phases: dict[str, object] = {**await scene.play(together, lambda _: Quiet())}
        for name in names:
            if name in CRASHING:
                phases[name] = await scene.play_alone(name, SCENARIOS[name], Quiet())
        return phases


def _text(phases: list[dict[str, dict[str, object]]]) -> str:
    """JSON with a line for each effect, event and object."""
    text = json.dumps(phases, indent=1, sort_keys=True)
    for phase in phases:
        for entries in phase.values():
            for value in entries.values() if isinstance(entries, dict) else ():
                for entry in value if isinstance(value, list) else [value]:
                    for depth in (3, 4):
                        spread = json.dumps(entry, indent=1, sort_keys=True).replace("\n", "\n" + " " * depth)
                        text = text.replace(spread, json.dumps(entry, sort_keys=True))
    return text + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--server", choices=("embedded", "real"), default="embedded")
    parser.add_argument("--out", type=pathlib.Path, default=RECORDED)
    parser.add_argument("scenarios", nargs="*")
    arguments = parser.parse_args()
    names = arguments.scenarios or list(SCENARIOS)
    command = [arguments.program, "--json", "--metrics-bind-address=0"]
    with tempfile.TemporaryDirectory() as place:
        directory = pathlib.Path(place)
        with getattr(api_servers, arguments.server)(directory) as server:
            phases = asyncio.run(record(command, server.kubeconfig, names, directory))
        if any("error" in phase for scenario_phases in phases.values() for phase in scenario_phases):  # type: ignore[attr-defined]
            print((directory / "shared.log").read_text()[-5000:], file=sys.stderr)
    arguments.out.mkdir(exist_ok=True)
    for name, scenario_phases in phases.items():
        for phase in scenario_phases[:-1]:  # type: ignore[index]
            phase.pop("objects", None)
        (arguments.out / f"{name}.json").write_text(_text(scenario_phases))  # type: ignore[arg-type]
        errors = [phase["error"] for phase in scenario_phases if "error" in phase]  # type: ignore[attr-defined]
        print(f"{name}: {'FAILED: ' + errors[0] if errors else f'{len(scenario_phases)} phases'}")  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

"""Record what the kro library answers to every case.

    cd tests/functions/kro/peer && go build -o PROGRAM .
    python -m tests.functions.kro.record PROGRAM

The answers go to `recorded/`, a file for each file of cases; `test_recorded_cases.py` compares with them.
"""

from __future__ import annotations

import argparse
import json
import pathlib

from tests.support.kro.cases import kinds, load, ours
from tests.support.kro.peer import Peer

RECORDED = pathlib.Path(__file__).parent / "recorded"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    arguments = parser.parse_args()
    schemas = kinds()
    answers: dict[str, dict[str, object]] = {}
    differing = 0
    with Peer(arguments.program, schemas) as peer:
        for name, case in load().items():
            file, _, title = name.partition(": ")
            answer = peer.ask(case)
            answers.setdefault(file, {})[title] = answer
            if ours(case, schemas) != answer:
                differing += 1
                print(
                    f"differs: {name}\n  kro: {json.dumps(answer)}\n  ours: {json.dumps(ours(case, schemas))}"
                )
    for file, recorded in answers.items():
        (RECORDED / f"{file}.json").write_text(
            json.dumps(recorded, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        )
    print(f"{sum(map(len, answers.values()))} cases recorded, {differing} of them differ from ours")


if __name__ == "__main__":
    main()

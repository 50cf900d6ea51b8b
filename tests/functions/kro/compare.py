"""Compare function-kro with the kro library on random graphs.

    cd tests/functions/kro/peer && go build -o PROGRAM .
    python -m tests.functions.kro.compare PROGRAM [--count N] [--seed N]

Prints each graph whose answers differ. kro looks at the fields of a template in any order. So where a graph
has two errors, or an error and an absent value, the answers may differ by that.
"""

from __future__ import annotations

import argparse
import json
from random import Random

from tests.support.kro.cases import kinds, ours
from tests.support.kro.peer import Peer
from tests.support.kro.random_graphs import random_case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    schemas = kinds()
    counts = dict.fromkeys(("equal", "refused alike", "refused with another message", "different"), 0)
    with Peer(arguments.program, schemas) as peer:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            case = random_case(Random(seed))
            theirs, own = peer.ask(case), ours(case, schemas)
            both_refuse = "error" in theirs and "error" in own
            if theirs == own:
                counts["refused alike" if both_refuse else "equal"] += 1
                continue
            counts["refused with another message" if both_refuse else "different"] += 1
            print(f"seed {seed}: {json.dumps(case)}\n  kro:  {json.dumps(theirs)}\n  ours: {json.dumps(own)}")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main()

"""Record what Crossplane's own composer makes of environments in `mode: Resources`.

    python -m tests.functions.record_environments PROGRAM

PROGRAM has the composer of Crossplane v1.17 compose one case. It reads `composition`, `xr`, `configs` and
`observed` as JSON. It writes `composed`, `status`, `references`, `warnings` and `ready`, or only `error` or
`invalid`.
"""

from __future__ import annotations

import json
import subprocess
import sys

from crossply.values import Object
from tests.support.functions.native_environments import (
    RECORDED,
    EnvironmentCase,
    composer_answer,
    load_environment_cases,
    our_answer,
)


def main(program: str) -> None:
    cases = load_environment_cases()
    recorded = {case.name: _entry(case, program) for case in cases}
    RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    unexpected = [case.name for case in cases if bool(case.difference) != ("ours" in recorded[case.name])]
    if unexpected:
        sys.exit("\n  ".join(["these cases lack a reason for a difference, or a difference:", *unexpected]))


def _entry(case: EnvironmentCase, program: str) -> Object:
    question = {field: getattr(case, field) for field in ("composition", "xr", "configs", "observed")}
    done = subprocess.run([program], input=json.dumps(question), text=True, capture_output=True, check=True)
    original, ours = composer_answer(json.loads(done.stdout)), our_answer(case)
    return {"original": original} if original == ours else {"original": original, "ours": ours}


if __name__ == "__main__":
    main(*sys.argv[1:])

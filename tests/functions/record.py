"""Record what the published program of a function answers to the cases of our built-in one.

    python -m tests.functions.record FUNCTION PROGRAM

PROGRAM is the command of the published function, which serves gRPC as functions in Go do. Its answers are
written to `recorded.json` beside the cases, and ours where they differ.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from typing import Any

import grpc

from crossply.functions import builtin
from tests.support.function_servers import V1, V1BETA1, started
from tests.support.functions.original_comparison import (
    NO_ANSWER,
    Case,
    as_json,
    encoded,
    folder,
    load_cases,
    our_answer,
)
from tests.support.ports import free_port


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("function", choices=builtin.PUBLISHED)
    parser.add_argument("program")
    arguments = parser.parse_args()
    record(arguments.function, arguments.program)


def record(function: str, program: str) -> None:
    """Write the answers of a program, which may have arguments, and ours."""
    cases = load_cases(function)
    run = builtin.load(function)
    recorded = {case.name: _entry(case, program, our_answer(case, run)) for case in cases}
    text = json.dumps(recorded, indent=1, sort_keys=True) + "\n"
    (folder(function) / "recorded.json").write_text(text)
    unexpected = [case.name for case in cases if bool(case.difference) != ("ours" in recorded[case.name])]
    if unexpected:
        sys.exit("\n  ".join(["these cases lack a reason for a difference, or a difference:", *unexpected]))


def _entry(case: Case, program: str, ours: dict[str, Any]) -> dict[str, Any]:
    original = _original_answer(program, encoded(case))
    return {"original": original} if original == ours else {"original": original, "ours": ours}


def _original_answer(program: str, request: bytes) -> dict[str, Any]:
    """The answer of a program started for this request: some requests make it crash."""
    address = f"127.0.0.1:{free_port()}"
    command = [*shlex.split(program), "--insecure", f"--address={address}"]
    with started(command, address), grpc.insecure_channel(address) as channel:
        for method in (V1, V1BETA1):
            try:
                answer = channel.unary_unary(method)(request, timeout=60, wait_for_ready=True)
                return _normalized(as_json(answer))
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.UNIMPLEMENTED:  # type: ignore[attr-defined]
                    return NO_ANSWER
    return NO_ANSWER


def _normalized(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with the target that older functions mean, and one of two wordings of Go's decoders."""
    for result in answer.get("results", []):
        result.setdefault("target", "TARGET_COMPOSITE")
        message = result["message"].replace("json: unable to ", "json: cannot ")
        result["message"] = message.replace("proto:\u00a0", "proto: ")
    return answer


if __name__ == "__main__":
    main()

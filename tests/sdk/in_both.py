"""Runs functions of published/ with whichever `crossplane.function` is found, and prints what they answer.

usage: in_both.py NAME ... < requests as JSON lists of hexadecimal messages, by name
"""

import asyncio
import importlib.util
import json
import pathlib
import sys

from crossplane.function.proto.v1 import run_function_pb2 as fnv1

HERE = pathlib.Path(__file__).parent / "published"


def load(name):
    spec = importlib.util.spec_from_file_location(f"function_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.FunctionRunner()


async def answer(runner, data):
    try:
        response = await runner.RunFunction(fnv1.RunFunctionRequest.FromString(data), None)
    except Exception as problem:  # noqa: BLE001 - what it raises is compared, too
        return f"{type(problem).__name__}: {problem}"
    return response.SerializeToString(deterministic=True).hex()


async def main():
    requests = json.load(sys.stdin)
    answers = {}
    for name in sys.argv[1:]:
        runner = load(name)
        answers[name] = {key: await answer(runner, bytes.fromhex(data)) for key, data in requests.items()}
    print(json.dumps(answers))


asyncio.run(main())

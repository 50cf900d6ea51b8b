"""Serves the published function-pythonic, in the environment that `record` makes for it."""

from __future__ import annotations

import argparse
import asyncio
import sys

import grpc
from crossplane.pythonic.function import FunctionRunner
from crossplane.pythonic.proto.v1 import run_function_pb2_grpc


async def serve(address: str) -> None:
    server = grpc.aio.server()
    run_function_pb2_grpc.add_FunctionRunnerServiceServicer_to_server(FunctionRunner(), server)
    server.add_insecure_port(address)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python-path", required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--insecure", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.python_path)
    asyncio.run(serve(arguments.address))

"""One that awaits: helpers, locks and tasks of the same loop."""

import asyncio

import grpc
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        async with self.lock:
            self.calls += 1
            await asyncio.sleep(0)
        names = await asyncio.gather(*(self.name_of(number) for number in range(3)))
        for name in names:
            resource.update(rsp.desired.resources[name], {"apiVersion": "v1", "kind": "Awaited"})
        return rsp

    def __init__(self):
        self.lock = asyncio.Lock()
        self.calls = 0

    async def name_of(self, number: int) -> str:
        await asyncio.sleep(0)
        return f"awaited-{number}"

"""Credentials of the step."""

import grpc
from crossplane.function import request, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        for name in ("cloud", "nothing"):
            credentials = request.get_credentials(req, name)
            response.normal(rsp, f"{name}: {credentials.type} {sorted(credentials.data.items())}")
        return rsp

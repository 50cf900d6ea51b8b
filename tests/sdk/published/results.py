"""Results of every kind, with reasons and targets."""

import datetime

import grpc
from crossplane.function import response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req, ttl=datetime.timedelta(hours=2, milliseconds=5))
        response.normal(rsp, "all is well")
        response.warning(rsp, "nearly: ünïcode 🚀")
        rsp.results.append(
            fnv1.Result(
                severity=fnv1.SEVERITY_WARNING,
                message="for the claim",
                reason="Because",
                target=fnv1.TARGET_COMPOSITE_AND_CLAIM,
            )
        )
        if "broken" in req.observed.composite.resource["spec"]:
            response.fatal(rsp, "it is broken")
        return rsp

"""Conditions of every kind."""

import grpc
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        response.set_conditions(
            rsp,
            resource.Condition(typ="DatabaseReady", status="True", reason="Available"),
            resource.Condition(typ="CacheReady", status="False", reason="Creating", message="not yet"),
            resource.Condition(typ="Strange", status="Perhaps"),
        )
        rsp.conditions.append(
            fnv1.Condition(
                type="Told",
                status=fnv1.STATUS_CONDITION_TRUE,
                reason="Claim",
                target=fnv1.TARGET_COMPOSITE_AND_CLAIM,
            )
        )
        return rsp

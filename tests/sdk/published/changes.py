"""Desired resources of the steps before, changed in place."""

import grpc
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        for name, desired in rsp.desired.resources.items():
            labels = desired.resource.get_or_create_struct("metadata").get_or_create_struct("labels")
            labels["example.org/step"] = "changed"
            desired.resource["metadata"]["annotations"] = {"from": name}
            resource.update(desired, {"data": {"replaced": True}})
        if "unwanted" in rsp.desired.resources:
            del rsp.desired.resources["unwanted"]
        rsp.desired.resources["made"].resource.update(
            {"apiVersion": "v1", "kind": "Made", "list": [{"a": 1}, []]}
        )
        rsp.desired.resources["made"].resource.get_or_create_list("list").append("more")
        rsp.desired.resources["empty"].resource.update({})
        return rsp

"""Structs made, copied and merged."""

import grpc
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1
from google.protobuf import struct_pb2


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        struct = resource.dict_to_struct(
            {"apiVersion": "v1", "kind": "Made", "spec": {"n": 1, "f": 1.5, "deep": {"a": [1]}}}
        )
        rsp.desired.resources["copied"].resource.CopyFrom(struct)
        resource.update(rsp.desired.resources["merged"], struct)
        more = struct_pb2.Struct()
        more.update({"spec": {"other": "x", "nested": struct["spec"]}, "list": (1, "two", None)})
        resource.update(rsp.desired.resources["merged"], more)
        rsp.desired.resources["built"].CopyFrom(
            fnv1.Resource(resource=resource.dict_to_struct({"kind": "Built"}), ready=fnv1.READY_TRUE)
        )
        back = resource.struct_to_dict(rsp.desired.resources["merged"].resource)
        resource.update(rsp.desired.resources["back"], back)
        response.set_output(rsp, {"keys": sorted(back)})
        return rsp

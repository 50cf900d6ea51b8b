"""An input with defaults."""

import grpc
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        size = 3
        if req.HasField("input") and "size" in req.input:
            size = int(req.input["size"])
        fields = resource.struct_to_dict(req.input)
        resource.update(
            rsp.desired.resources["sized"],
            {"apiVersion": "v1", "kind": "Sized", "spec": {"size": size, "given": fields}},
        )
        return rsp

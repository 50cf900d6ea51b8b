"""A context that is read and added to."""

import grpc
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        key = "apiextensions.crossplane.io/environment"
        environment = resource.struct_to_dict(req.context).get(key, {})
        rsp.context["example.org/seen"] = {"zone": environment.get("zone", "none"), "keys": len(environment)}
        rsp.context.update({"example.org/list": ["a", 1, 2.5, None, True, {"deep": []}]})
        if key in rsp.context:
            rsp.context[key]["added"] = "yes"
        return rsp

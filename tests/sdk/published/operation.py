"""An operation: it has no XR, and an output."""

import grpc
from crossplane.function import request, resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        watched = request.get_watched_resource(req)
        if watched is None:
            response.fatal(rsp, "nothing was watched")
            return rsp
        watched["metadata"].pop("managedFields", None)
        watched["metadata"]["labels"] = {"seen": "true"}
        resource.update(rsp.desired.resources["watched"], watched)
        response.set_output(rsp, resource.dict_to_struct({"name": watched["metadata"]["name"], "count": 1}))
        return rsp

"""Schemas, where the engine has them."""

import grpc
from crossplane.function import request, resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        response.normal(rsp, f"advertised: {request.advertises_capabilities(req)}")
        if not request.has_capability(req, fnv1.CAPABILITY_REQUIRED_SCHEMAS):
            response.warning(rsp, "no schemas here")
            return rsp
        response.require_schema(rsp, "xr", "example.org/v1", "XR")
        schema = request.get_required_schema(req, "xr")
        if schema is not None:
            resource.update_status(rsp.desired.composite, {"fields": sorted(schema["properties"])})
        elif "xr" in req.required_schemas:
            response.fatal(rsp, "no such schema")
        return rsp

"""Resources that are required, and used once they are there."""

import grpc
from crossplane.function import request, resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        response.require_resources(rsp, "one", "v1", "ConfigMap", match_name="settings", namespace="default")
        response.require_resources(rsp, "some", "v1", "ConfigMap", match_labels={"team": "blue"})
        response.require_resources(rsp, "all", "v1", "Namespace")
        if "one" not in req.required_resources:
            return rsp
        one = request.get_required_resource(req, "one")
        if one is None:
            response.fatal(rsp, "there are no settings")
            return rsp
        some = request.get_required_resources(req, "some")
        resource.update(
            rsp.desired.resources["copy"],
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "data": {**one["data"], "others": ",".join(other["metadata"]["name"] for other in some)},
            },
        )
        return rsp

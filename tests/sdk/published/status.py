"""What is observed becomes the status, the connection details and the readiness of the XR."""

import grpc
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        ready = []
        for name in sorted(req.observed.resources):
            observed = req.observed.resources[name]
            condition = resource.get_condition(observed.resource, "Ready")
            ready.append(f"{name}={condition.status}/{condition.reason}/{condition.message}")
            if condition.last_transition_time:
                ready.append(condition.last_transition_time.isoformat())
            for key, value in observed.connection_details.items():
                rsp.desired.composite.connection_details[f"{name}-{key}"] = value
            rsp.desired.resources[name].ready = (
                fnv1.READY_TRUE if condition.status == "True" else fnv1.READY_FALSE
            )
        missing = resource.get_condition(req.observed.resources.get("nowhere"), "Ready")
        resource.update_status(rsp.desired.composite, {"ready": ready, "missing": missing.status})
        if all("=True" in condition for condition in ready):
            rsp.desired.composite.ready = fnv1.READY_TRUE
        return rsp

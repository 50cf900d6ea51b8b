"""A function as its author writes it with the published Python SDK. Runs in the SDK's own environment."""

import sys

import grpc
from crossplane.function import resource, response, runtime
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class Greeter(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, request: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        answer = response.to(request)
        composite = resource.struct_to_dict(request.observed.composite.resource)
        if composite["spec"].get("explode"):
            raise RuntimeError("as asked")
        greeting = f"hello {composite['spec']['name']}"
        resource.update(
            answer.desired.resources["greeting"],
            {
                "apiVersion": "example.org/v1",
                "kind": "Greeting",
                "spec": {
                    "text": greeting,
                    "times": composite["spec"]["times"] + 1,
                    "kept": composite["spec"],
                },
            },
        )
        answer.desired.resources["greeting"].ready = fnv1.READY_TRUE
        response.normal(answer, greeting)
        return answer


if __name__ == "__main__":
    certificates = runtime.load_credentials(sys.argv[2]) if len(sys.argv) > 2 else None
    runtime.serve(Greeter(), sys.argv[1], creds=certificates, insecure=certificates is None)

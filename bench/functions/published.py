"""The functions of bench/sdk.py, written for the published SDK, crossplane.function.

usage, where it is installed: published.py Trivial|Fifty ADDRESS
"""

from __future__ import annotations

import sys

import grpc
from crossplane.function import resource, response, runtime
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class Trivial(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        response.normal(rsp, f"hello {req.observed.composite.resource['metadata']['name']}")
        return rsp


class Fifty(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        xr = resource.struct_to_dict(req.observed.composite.resource)
        spec, xr_name = xr["spec"], xr["metadata"]["name"]
        for number in range(int(spec["count"])):
            name = f"instance-{number}"
            resource.update(
                rsp.desired.resources[name],
                {
                    "apiVersion": "ec2.aws.example.org/v1beta1",
                    "kind": "Instance",
                    "metadata": {
                        "labels": {"team": spec["team"], "number": str(number)},
                        "annotations": {"example.org/external-name": f"{xr_name}-{number}"},
                    },
                    "spec": {
                        "deletionPolicy": "Delete",
                        "providerConfigRef": {"name": "default"},
                        "forProvider": {
                            "region": spec["region"],
                            "instanceType": spec["size"],
                            "ami": "ami-0abcdef1234567890",
                            "monitoring": True,
                            "cpuCoreCount": 4,
                            "rootBlockDevice": [
                                {"volumeSize": 20 + number, "volumeType": "gp3", "encrypted": True}
                            ],
                            "tags": {"Name": f"{xr_name}-{number}", "managed-by": "composition"},
                        },
                    },
                },
            )
            observed = req.observed.resources.get(name)
            if observed is not None and resource.get_condition(observed, "Ready").status == "True":
                rsp.desired.resources[name].ready = fnv1.READY_TRUE
        resource.update(rsp.desired.composite, {"status": {"instances": spec["count"]}})
        return rsp


if __name__ == "__main__":
    runner = {"Trivial": Trivial, "Fifty": Fifty}[sys.argv[1]]()
    runtime.serve(runner, sys.argv[2], creds=None, insecure=True)

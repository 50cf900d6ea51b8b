"""Names made of names, and a log."""

import grpc
from crossplane.function import logging, resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        log = self.log.bind(tag=req.meta.tag)
        log.info("running", step="names")
        log.debug("not shown")
        rsp = response.to(req)
        parts = ("my-xr", "bucket"), ("a" * 60, "b"), ("x" * 62 + "-", "y"), ("short",)
        for index, part in enumerate(parts):
            name = resource.child_name(*part)
            resource.update(rsp.desired.resources[f"r{index}"], {"kind": "Named", "metadata": {"name": name}})
        return rsp

    def __init__(self):
        logging.configure(logging.Level.DISABLED)
        self.log = logging.get_logger()

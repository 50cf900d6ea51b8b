"""Clients and servers of version v1beta1."""

from crossply.functions.proto.v1beta1 import run_function_pb2
from crossply.sdk.shim.grpc_services import service

_made = service("apiextensions.fn.proto.v1beta1.FunctionRunnerService", run_function_pb2)

FunctionRunnerServiceStub = _made.stub
FunctionRunnerServiceServicer = _made.servicer
FunctionRunnerService = _made.service
add_FunctionRunnerServiceServicer_to_server = _made.add_to_server  # noqa: N816 - gRPC's name

"""Call a served function with the published SDK's own messages and stubs, and print the answer as JSON.

usage: caller.py ADDRESS [DIRECTORY-OF-CERTIFICATES] < request as JSON
"""

import sys

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1
from google.protobuf import json_format


def open_channel(address, directory=None):
    if directory is None:
        return grpc.insecure_channel(address)
    files = []
    for name in ("ca.crt", "tls.key", "tls.crt"):
        with open(f"{directory}/{name}", "rb") as file:
            files.append(file.read())
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(*files))


request = json_format.Parse(sys.stdin.read(), fnv1.RunFunctionRequest())
with open_channel(*sys.argv[1:]) as channel:
    answer = grpcv1.FunctionRunnerServiceStub(channel).RunFunction(request, timeout=10)
print(json_format.MessageToJson(answer))

"""Pydantic models, as generated from CRDs."""

from __future__ import annotations

import grpc
import pydantic
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        bucket = Bucket(spec=Spec(region="eu", continue_="on"))
        resource.update(rsp.desired.resources["bucket"], bucket)
        resource.update_status(rsp.desired.composite, Status(size=3))
        return rsp


class Spec(pydantic.BaseModel):
    region: str | None = None
    size: int | None = 5
    continue_: str | None = pydantic.Field(default=None, alias="continue")
    model_config = pydantic.ConfigDict(populate_by_name=True)


class Bucket(pydantic.BaseModel):
    apiVersion: str = "s3.example.org/v1"  # noqa: N815 - its name in objects
    kind: str = "Bucket"
    spec: Spec | None = None


class Status(pydantic.BaseModel):
    size: int | None = None
    other: str | None = None

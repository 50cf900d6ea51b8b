"""Values that are not plain, and exceptions."""

import enum
import math

import grpc
from crossplane.function import resource, response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerServiceServicer):
    async def RunFunction(  # noqa: N802 - the name in the protocol
        self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        rsp = response.to(req)
        spec = resource.struct_to_dict(req.observed.composite.resource)["spec"]
        odd = spec.get("odd", "")
        values = {
            "tuple": (1, ("a",)),
            "number": Shade.DARK,
            "text": Name.LONG,
            "struct": resource.dict_to_struct({"in": {"a": 1}}),
            "large": 2**53 + 1,
            "small": -0.0,
            "text2": "tab\t \x00 ü",
            "none": None,
            "false": False,
            "empty": {"map": {}, "list": []},
            "": "empty key",
        }
        if odd == "set":
            values["set"] = {1, 2}
        if odd == "nan":
            values["nan"] = math.nan
        if odd == "nan struct":
            values["struct"] = resource.dict_to_struct({"a": math.inf})
        if odd == "surrogate":
            values["surrogate"] = "\ud800"
        if odd == "huge":
            values["huge"] = 10**400
        if odd == "key":
            values[1] = "x"
        if odd == "deep":
            deep = values
            for _ in range(60):
                deep["deep"] = {}
                deep = deep["deep"]
        resource.update(rsp.desired.resources["odd"], {"kind": "Odd", "spec": values})
        if odd == "unsupported":
            resource.update(rsp.desired.resources["odd"], ["a list"])
        if odd == "missing":
            response.normal(rsp, req.observed.composite.resource["spec"]["nowhere"])
        if odd == "both":
            response.require_resources(rsp, "x", "v1", "A", match_name="a", match_labels={"a": "b"})
        return rsp


class Shade(enum.IntEnum):
    DARK = 3


class Name(enum.StrEnum):
    LONG = "long"

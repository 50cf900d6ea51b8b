"""The SDK for composition functions.

    from crossply.sdk import function

    @function
    def compose(req, rsp):
        rsp.desired["bucket"] = {
            "apiVersion": "s3.example.org/v1",
            "kind": "Bucket",
            "spec": {"region": req.xr["spec"]["region"]},
        }

`function_decorator` calls a function, `request` and `response` are what its author sees. `request_interface`
is the interface to the two forms of a request: `encoded_request` (bytes) and `in_process_request` (plain
data). `function_file` loads a function from a file, `serving` serves it. `shim` runs code for the published
Python SDK.
"""

from __future__ import annotations

from crossply.sdk.child_names import child_name
from crossply.sdk.desired_resources import DesiredResources
from crossply.sdk.failures import Fatal
from crossply.sdk.function_decorator import Function, function
from crossply.sdk.request import Request
from crossply.sdk.request_interface import Condition
from crossply.sdk.resources import Desired, Resource
from crossply.sdk.response import Response, Result

__all__ = [
    "Condition",
    "Desired",
    "DesiredResources",
    "Fatal",
    "Function",
    "Request",
    "Resource",
    "Response",
    "Result",
    "child_name",
    "function",
]

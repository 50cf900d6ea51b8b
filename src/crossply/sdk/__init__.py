"""Writing composition functions.

    from crossply.sdk import function

    @function
    def compose(req, rsp):
        rsp.desired["bucket"] = {
            "apiVersion": "s3.example.org/v1",
            "kind": "Bucket",
            "spec": {"region": req.xr["spec"]["region"]},
        }

`authored` is where a function is called, `request` and `response` are what its author sees, `arrival` is the
seam to the bytes and to the engine, `loading` finds the function in a file, `command` and `serving` serve it.
`shim` runs code that was written for the published Python SDK.
"""

from __future__ import annotations

from crossply.sdk.arrival import Condition
from crossply.sdk.authored import Function, function
from crossply.sdk.desired import DesiredResources
from crossply.sdk.failures import Fatal
from crossply.sdk.naming import child_name
from crossply.sdk.request import Request
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

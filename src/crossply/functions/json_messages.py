"""The messages of the function protocol as JSON, for functions that read stdin and write stdout.

It is protobuf's own JSON: field names in camel case, bytes in base64. A function may write its request back
with changes: unknown fields are ignored, but a changed `observed` is reported.
"""

from __future__ import annotations

import orjson

from crossply.compose.function_messages import Request, Response
from crossply.compose.wire_codec import decode_response, encode_request, encode_response
from crossply.functions.failures import FunctionReplyDamaged
from crossply.functions.observed_state_check import with_warning
from crossply.values.protobuf_struct import from_wire


def write_request(request: Request) -> bytes:
    """A RunFunctionRequest in JSON."""
    from google.protobuf import json_format

    from crossply.functions.proto.v1.run_function_pb2 import RunFunctionRequest

    message = RunFunctionRequest.FromString(encode_request(request))
    # Whole numbers are written as such: a shell script would take 3.0 for a text that is not 3.
    return orjson.dumps(from_wire(json_format.MessageToDict(message)))


def write_response(response: Response) -> bytes:
    """A RunFunctionResponse in JSON."""
    from google.protobuf import json_format

    from crossply.functions.proto.v1.run_function_pb2 import RunFunctionResponse

    message = RunFunctionResponse.FromString(encode_response(response))
    return orjson.dumps(from_wire(json_format.MessageToDict(message)))


def read_answer(data: bytes, sent: bytes, function: str) -> Response:
    """The response in what a function of this name wrote when it was sent a request in JSON."""
    response = read_response(data)
    if b'"observed"' not in data:
        return response
    import json

    returned = json.loads(data).get("observed")  # as lenient as protobuf's own reader
    return with_warning(response, function, orjson.loads(sent).get("observed") or {}, returned)


def read_response(data: bytes) -> Response:
    """The response in what a function wrote."""
    from google.protobuf import json_format

    from crossply.functions.proto.v1.run_function_pb2 import RunFunctionResponse

    if not data.strip():
        raise FunctionReplyDamaged("it wrote nothing on stdout", hint=_HINT)
    message = RunFunctionResponse()
    try:
        json_format.Parse(data, message, ignore_unknown_fields=True)
    except (json_format.ParseError, UnicodeDecodeError, RecursionError, ValueError) as problem:
        raise FunctionReplyDamaged(
            f"cannot read the RunFunctionResponse that it wrote: {problem}", hint=_HINT
        ) from None
    return decode_response(message.SerializeToString())


_HINT = "the function must write a RunFunctionResponse in JSON on its standard output, and nothing else"

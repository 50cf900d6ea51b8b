"""Serving a function."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import grpc

from crossply.functions.server import Refused, Server, ServerSettings, serve_until_signal
from crossply.sdk.published_sdk_function import PublishedFunction

from .proto.v1 import run_function_pb2
from .proto.v1beta1 import run_function_pb2 as beta
from .proto.v1beta1 import run_function_pb2_grpc as beta_grpc

SERVICE_NAMES = (
    "grpc.reflection.v1alpha.ServerReflection",
    "apiextensions.fn.proto.v1.FunctionRunnerService",
    "apiextensions.fn.proto.v1beta1.FunctionRunnerService",
)
SHUTDOWN_GRACE_PERIOD_SECONDS = 5


def load_credentials(tls_certs_dir: str | None) -> grpc.ServerCredentials | None:
    """Credentials of a directory with tls.crt, tls.key and the ca.crt that callers are verified by."""
    if tls_certs_dir is None:
        return None
    contents = []
    for name in ("tls.crt", "tls.key", "ca.crt"):
        with open(os.path.join(tls_certs_dir, name), "rb") as file:
            contents.append(file.read())
    certificate, key, authority = contents
    return grpc.ssl_server_credentials([(key, certificate)], authority, require_client_auth=True)


def serve(
    function: Any,
    address: str,
    *,
    creds: grpc.ServerCredentials | None,
    insecure: bool,
    options: Sequence[tuple[str, Any]] | None = None,
) -> None:
    """Serve a function until SIGTERM, then let the running calls finish. Insecurely, if both are given."""
    if creds is None and insecure is False:
        raise ValueError(
            "no credentials were provided - did you provide credentials or use the insecure flag?"
        )
    served = PublishedFunction(function, run_function_pb2.RunFunctionRequest)
    settings = ServerSettings(address, credentials=None if insecure else creds, options=tuple(options or ()))
    serve_until_signal(lambda: Server(served.name, _handler(served), settings))


def _handler(served: PublishedFunction) -> Any:
    def handle(data: bytes, context: Any) -> bytes:
        try:
            return served.handle(data, context)
        except Refused:
            raise
        except Exception as problem:
            # In the words of gRPC's asynchronous server, which callers know from this SDK.
            raise Refused(grpc.StatusCode.UNKNOWN, f"Unexpected {type(problem)}: {problem}") from problem

    return handle


class BetaFunctionRunner(beta_grpc.FunctionRunnerServiceServicer):  # type: ignore[misc]
    """A function of version v1 that answers calls of v1beta1, whose messages have the same bytes."""

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped

    async def RunFunction(self, req: Any, context: Any) -> Any:  # noqa: N802 - the name in the protocol
        """Run the function."""
        request = run_function_pb2.RunFunctionRequest.FromString(req.SerializeToString())
        answer = await self.wrapped.RunFunction(request, context)
        return beta.RunFunctionResponse.FromString(answer.SerializeToString())

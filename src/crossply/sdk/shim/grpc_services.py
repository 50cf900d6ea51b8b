"""The classes that the gRPC compiler generates for the function protocol, for the messages of one version."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import grpc


class Service(NamedTuple):
    """The stub of clients, two base classes of servers, and the function that adds a server to gRPC."""

    stub: Any
    servicer: Any
    service: Any
    add_to_server: Callable[[Any, Any], None]


def service(name: str, messages: ModuleType) -> Service:
    """What the compiler generates for the service of this name."""
    return Service(
        _stub_class(name, messages), _servicer_class(), _caller_class(name, messages), _adder(name, messages)
    )


def _stub_class(name: str, messages: ModuleType) -> type:
    class FunctionRunnerServiceStub:
        """Calls a function."""

        def __init__(self, channel: Any) -> None:
            self.RunFunction = channel.unary_unary(
                f"/{name}/RunFunction",
                request_serializer=messages.RunFunctionRequest.SerializeToString,
                response_deserializer=messages.RunFunctionResponse.FromString,
            )

    return FunctionRunnerServiceStub


def _servicer_class() -> type:
    class FunctionRunnerServiceServicer:
        """A function."""

        def RunFunction(self, request: Any, context: Any) -> Any:  # noqa: N802 - the protocol's name
            """Run the function."""
            context.set_code(grpc.StatusCode.UNIMPLEMENTED)
            context.set_details("Method not implemented!")
            raise NotImplementedError("Method not implemented!")

    return FunctionRunnerServiceServicer


def _caller_class(name: str, messages: ModuleType) -> type:
    class FunctionRunnerService:
        """Calls a function without a stub. Functions in Crossplane's guide have it as their base class."""

        @staticmethod
        def RunFunction(  # noqa: N802 - the protocol's name
            request: Any,
            target: str,
            options: Any = (),
            channel_credentials: Any = None,
            call_credentials: Any = None,
            insecure: bool = False,
            compression: Any = None,
            wait_for_ready: bool | None = None,
            timeout: float | None = None,
            metadata: Any = None,
        ) -> Any:
            """Run the function at an address."""
            import grpc.experimental

            return grpc.experimental.unary_unary(
                request,
                target,
                f"/{name}/RunFunction",
                request_serializer=messages.RunFunctionRequest.SerializeToString,
                response_deserializer=messages.RunFunctionResponse.FromString,
                options=options,
                channel_credentials=channel_credentials,
                insecure=insecure,
                call_credentials=call_credentials,
                compression=compression,
                wait_for_ready=wait_for_ready,
                timeout=timeout,
                metadata=metadata,
            )

    return FunctionRunnerService


def _adder(name: str, messages: ModuleType) -> Callable[[Any, Any], None]:
    def add_to_server(servicer: Any, server: Any) -> None:
        call = grpc.unary_unary_rpc_method_handler(
            servicer.RunFunction,
            request_deserializer=messages.RunFunctionRequest.FromString,
            response_serializer=messages.RunFunctionResponse.SerializeToString,
        )
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, {"RunFunction": call}),))

    return add_to_server

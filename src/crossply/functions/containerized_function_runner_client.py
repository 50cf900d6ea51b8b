"""Runs an image by a remote runner: the client of a ContainerizedFunctionRunnerService."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from typing import Any

from crossply.functions.failures import (
    FunctionError,
    FunctionReplyTooLarge,
    FunctionTimedOut,
    FunctionUnavailable,
)
from crossply.functions.one_shot_image_run import ImageRun
from crossply.functions.remote import silence_grpc
from crossply.xpkg.image_reference import parse
from crossply.xpkg.keychain import ANONYMOUS, Login

METHOD = "/apiextensions.fn.proto.v1alpha1.ContainerizedFunctionRunnerService/RunFunction"
FIRST_METHOD = "/ContainerizedFunctionRunnerService/RunFunction"
"""The same before the messages were in a package."""
LARGEST = 16 << 20
"""Bytes of a request or an answer."""
GRACE = 5.0
"""Seconds that a runner gets to say that the time of a function is up."""

_ABSTRACT = "unix-abstract:"
_CREDENTIALS = struct.Struct("3i")


def call_runner(endpoint: str, image_run: ImageRun, data: bytes, timeout: float) -> bytes:
    """What the image writes when the runner at an endpoint runs it with these bytes."""
    silence_grpc()
    import grpc

    from crossply.functions.proto.v1alpha1.run_function_pb2 import RunFunctionResponse

    message = _message(image_run, data, timeout).SerializeToString()
    seconds = min(image_run.timeout + GRACE, timeout)
    options = [
        ("grpc.max_receive_message_length", LARGEST),
        ("grpc.max_send_message_length", -1),
        ("grpc.enable_http_proxy", 0),
    ]
    with grpc.insecure_channel(endpoint, options) as channel:
        try:
            reply = _send(channel, message, seconds)
        except grpc.RpcError as problem:
            raise _failure(problem, endpoint, seconds) from None
    output: bytes = RunFunctionResponse.FromString(reply).output
    return output


def is_our_own(endpoint: str) -> bool:
    """Whether a process of this user, or of root, listens at an abstract unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        if probe.connect_ex(f"\0{endpoint.removeprefix(_ABSTRACT)}"):
            return False
        _, user, _ = _CREDENTIALS.unpack(
            probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        )
        return user in (0, os.geteuid())


def _send(channel: Any, message: bytes, seconds: float) -> bytes:
    import grpc

    same: Any = None  # the messages are bytes already
    try:
        reply: bytes = channel.unary_unary(METHOD, same, same)(message, timeout=seconds)
    except grpc.RpcError as problem:
        if _code(problem) != "UNIMPLEMENTED":
            raise
        reply = channel.unary_unary(FIRST_METHOD, same, same)(message, timeout=seconds)
    return reply


def _message(image_run: ImageRun, data: bytes, timeout: float) -> Any:
    from google.protobuf.duration_pb2 import Duration

    from crossply.functions.proto.v1alpha1 import run_function_pb2

    messages: Any = run_function_pb2
    seconds = Duration()
    seconds.FromNanoseconds(int(min(image_run.timeout, timeout) * 1e9))
    limits = messages.ResourceLimits(memory=image_run.memory, cpu=image_run.cpu)
    return messages.RunFunctionRequest(
        image=image_run.image,
        input=data,
        image_pull_config=messages.ImagePullConfig(
            pull_policy=_POLICIES[image_run.pull_policy], auth=_auth(image_run)
        ),
        run_function_config=messages.RunFunctionConfig(
            resources=messages.ResourceConfig(limits=limits),
            network=messages.NetworkConfig(policy=_NETWORKS[image_run.network]),
            timeout=seconds,
        ),
    )


_POLICIES = {"IfNotPresent": 1, "Always": 2, "Never": 3}
_NETWORKS = {"Isolated": 1, "Runner": 2}


def _auth(image_run: ImageRun) -> Any:
    from crossply.functions.proto.v1alpha1.run_function_pb2 import ImagePullAuth

    login = _login(image_run)
    if login == ANONYMOUS:
        return None
    return ImagePullAuth(
        username=login.username,
        password=login.password,
        identity_token=login.identity_token,
        registry_token=login.registry_token,
    )


def _login(image_run: ImageRun) -> Login:
    if image_run.keychain is None:
        return ANONYMOUS
    return asyncio.run(image_run.keychain.login(parse(image_run.image).registry)) or ANONYMOUS


def _failure(problem: Any, endpoint: str, seconds: float) -> FunctionError:
    code, detail = _code(problem), problem.details() or ""
    text = f"the runner at {endpoint} says: {detail}"
    if code == "DEADLINE_EXCEEDED":
        return FunctionTimedOut(
            text if detail else f"the runner at {endpoint} did not answer in {seconds:.0f} s"
        )
    if code == "UNAVAILABLE":
        return FunctionUnavailable(
            f"no runner answers at {endpoint}", hint="start one: crossply function runner --help"
        )
    return FunctionReplyTooLarge(text) if code == "RESOURCE_EXHAUSTED" else FunctionError(text)


def _code(problem: Any) -> str:
    name: str = problem.code().name
    return name

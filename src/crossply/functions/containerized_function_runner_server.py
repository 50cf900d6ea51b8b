"""Running images for others: the server of a ContainerizedFunctionRunnerService.

Requests are not trusted: requests and responses are bounded, so are the seconds that an image may run
and how many run at once, and each runs in a container that sees nothing of this machine. Images are pulled
with the credentials of the request, never with those of the user who runs the runner.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from crossply.containers import failures as containers
from crossply.errors import CrossplyError
from crossply.functions.containerized_function_runner_client import FIRST_METHOD, LARGEST, METHOD
from crossply.functions.failures import FunctionSettingsWrong, ServeError
from crossply.functions.one_shot_image_run import ImageRun, ImageRuns
from crossply.functions.remote import silence_grpc
from crossply.xpkg.failures import BadReference
from crossply.xpkg.keychain import CombinedKeychain, Keychain, Login
from crossply.xpkg.registry_failures import NotAllowed, NotInRegistry

if TYPE_CHECKING:
    import grpc

_GRACE = 5.0
_POLICIES = {0: "IfNotPresent", 1: "IfNotPresent", 2: "Always", 3: "Never"}
_NETWORKS = {0: "Isolated", 1: "Isolated", 2: "Runner"}
_CODES: tuple[tuple[type[CrossplyError], str], ...] = (
    (containers.TookTooLong, "DEADLINE_EXCEEDED"),
    (containers.OutputTooLarge, "RESOURCE_EXHAUSTED"),
    (containers.OutOfMemory, "RESOURCE_EXHAUSTED"),
    (containers.StoreFull, "RESOURCE_EXHAUSTED"),
    (containers.NoContainerEngine, "FAILED_PRECONDITION"),
    (containers.ContainersForbidden, "FAILED_PRECONDITION"),
    (containers.ImageMissing, "NOT_FOUND"),
    (NotInRegistry, "NOT_FOUND"),
    (NotAllowed, "PERMISSION_DENIED"),
    (BadReference, "INVALID_ARGUMENT"),
    (FunctionSettingsWrong, "INVALID_ARGUMENT"),
)


class RunnerSettings(NamedTuple):
    """Where a runner listens, and how much it does."""

    target: str
    """An address as gRPC writes it, `unix:/path` or `unix-abstract:name`."""
    at_once: int = 8
    """Containers that run at the same time; others wait for their turn."""
    longest: float = 120.0
    """Seconds that any image may run, whatever the request says."""
    largest: int = LARGEST
    """Bytes of a request."""
    shares_network: bool = True
    """Whether images that ask for it get the network of the runner."""
    log: Callable[[str], None] = lambda _: None


class RunnerServer:
    """A runner, until it is stopped."""

    def __init__(self, runs: ImageRuns, settings: RunnerSettings) -> None:
        silence_grpc()
        import grpc

        service = _Service(runs, settings)
        call = grpc.unary_unary_rpc_method_handler(service.answer)
        paths = [method.split("/") for method in (METHOD, FIRST_METHOD)]
        handlers = [grpc.method_handlers_generic_handler(name, {rpc: call}) for _, name, rpc in paths]
        options = [
            ("grpc.max_receive_message_length", settings.largest),
            ("grpc.max_send_message_length", LARGEST),
            ("grpc.so_reuseport", 0),
        ]
        workers = ThreadPoolExecutor(settings.at_once, thread_name_prefix="runner")
        self._server = grpc.server(workers, handlers=handlers, options=options)
        try:
            self._server.add_insecure_port(settings.target)
        except RuntimeError:
            raise ServeError(
                f"cannot listen at {settings.target}",
                hint="is the address right, and nothing else listening there?",
            ) from None
        self._server.start()

    def stop(self) -> None:
        """Refuse what comes, and let what runs finish for a while."""
        self._server.stop(_GRACE).wait()


class _Service:
    """Answers requests."""

    def __init__(self, runs: ImageRuns, settings: RunnerSettings) -> None:
        self._runs = runs
        self._settings = settings

    def answer(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        """Run what a request asks for."""
        import grpc
        from google.protobuf.message import DecodeError

        from crossply.functions.proto.v1alpha1.run_function_pb2 import RunFunctionRequest, RunFunctionResponse

        start = time.monotonic()
        try:
            request = RunFunctionRequest.FromString(data)
        except DecodeError:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the request is no RunFunctionRequest")
        try:
            image_run = self._image_run(request)
            output = self._runs.run(image_run, request.input, self._seconds(context))
        except CrossplyError as problem:
            self._settings.log(f"{_shown(request.image)}: {problem}")
            context.abort(grpc.StatusCode[_code(problem)], f"{problem}")
        took = time.monotonic() - start
        self._settings.log(f"{_shown(request.image)}: {len(output)} bytes in {took:.2f} s")
        reply: bytes = RunFunctionResponse(output=output).SerializeToString()
        return reply

    def _seconds(self, context: grpc.ServicerContext) -> float:
        left = context.time_remaining()
        return self._settings.longest if left is None else min(left, self._settings.longest)

    def _image_run(self, request: Any) -> ImageRun:
        config = request.run_function_config
        network = _NETWORKS.get(config.network.policy, "Isolated")
        if network == "Runner" and not self._settings.shares_network:
            raise FunctionSettingsWrong("this runner does not share its network")
        timeout = config.timeout.seconds + config.timeout.nanos / 1e9
        return ImageRun(
            image=request.image,
            pull_policy=_POLICIES.get(request.image_pull_config.pull_policy, "IfNotPresent"),
            keychain=_keychain(request.image_pull_config.auth),
            memory=config.resources.limits.memory,
            cpu=config.resources.limits.cpu,
            network=network,
            timeout=timeout if config.HasField("timeout") else self._settings.longest,
        )


def _keychain(auth: Any) -> Keychain:
    username, password = auth.username, auth.password
    if auth.auth:
        username, password = _pair(auth.auth)
    login = Login(username, password, auth.identity_token, auth.registry_token)
    return _Always(login) if any(login) else CombinedKeychain()


class _Always:
    """The login that came with a request, whichever registry asks."""

    def __init__(self, login: Login) -> None:
        self._login = login

    async def login(self, registry: str) -> Login | None:
        return self._login


def _pair(auth: str) -> tuple[str, str]:
    import base64
    import binascii

    try:
        username, _, password = base64.b64decode(auth, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise FunctionSettingsWrong("the auth of the request is not valid base64") from None
    return username, password


def _code(problem: CrossplyError) -> str:
    return next((code for kind, code in _CODES if isinstance(problem, kind)), "UNKNOWN")


def _shown(image: str) -> str:
    """An image for the log: whatever was sent, on one line and not too long."""
    return repr(image[:200])

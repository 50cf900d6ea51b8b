"""Runs the container functions of Compositions: the entries of `spec.functions`.

Each is an image that reads a FunctionIO and writes one. It is run by the runner that listens at the
function's endpoint, or on this machine if the function names none. Nothing stays open between calls: each is
a run of its own.
"""

from __future__ import annotations

from crossply.compose.function_messages import Request, Response
from crossply.containers.image_store import Store
from crossply.errors import CrossplyError
from crossply.functions.containerized_function_runner_client import call_runner, is_our_own
from crossply.functions.function_io.container_function_output import read
from crossply.functions.function_io.container_function_stdin import write
from crossply.functions.function_io.pipeline_context_state import read_pipeline_state
from crossply.functions.one_shot_image_run import ImageRun, ImageRuns, keychain_of
from crossply.kinds.composition import Step
from crossply.kinds.composition_container_function import DEFAULT_ENDPOINT, ContainerFunction
from crossply.xpkg.keychain import Keychain
from crossply.xpkg.registry_session import Trust

_NANOSECONDS = 1e9


class ContainerFunctions:
    """Opens the runners of container functions, for one control plane or one command."""

    def __init__(self, store: Store, logins: Keychain | None = None, trust: Trust | None = None) -> None:
        """`logins` are used besides the pull secrets that a function names, and only on this machine."""
        self._images = ImageRuns(store, trust=trust)
        self._logins = logins

    def open(self, step: Step) -> ContainerStepRunner:
        return ContainerStepRunner(step, self._images, self._logins)


class ContainerStepRunner:
    """Runs the image of one step."""

    __slots__ = ("_container", "_images", "_logins", "_step")

    def __init__(self, step: Step, images: ImageRuns, logins: Keychain | None) -> None:
        assert step.container is not None
        self._step = step.name
        self._container = step.container
        self._images = images
        self._logins = logins

    def __call__(self, request: Request, timeout: float) -> Response:
        container = self._container
        carried = read_pipeline_state(request, container.templates)
        # A Composition may name any endpoint: our own logins are not sent there, only named pull secrets.
        logins = self._logins if container.endpoint == DEFAULT_ENDPOINT else None
        image_run = _image_run(container, keychain_of(request.credentials, logins))
        try:
            output = self._run(image_run, write(request, container.config, carried), timeout)
            return read(output, request, carried, self._step)
        except CrossplyError as problem:
            raise problem.within(f'cannot run function "{self._step}": image "{container.image}"') from None

    def close(self) -> None:
        """Nothing stays open."""

    def _run(self, image_run: ImageRun, data: bytes, timeout: float) -> bytes:
        # Any user of this machine could listen at the default endpoint: only a runner of our own user is
        # trusted with the requests of functions.
        endpoint = self._container.endpoint
        if endpoint != DEFAULT_ENDPOINT or is_our_own(DEFAULT_ENDPOINT):
            return call_runner(endpoint, image_run, data, timeout)
        return self._images.run(image_run, data, timeout)


def _image_run(container: ContainerFunction, keychain: Keychain) -> ImageRun:
    return ImageRun(
        image=container.image,
        pull_policy=container.pull_policy,
        keychain=keychain,
        memory=container.memory_limit,
        cpu=container.cpu_limit,
        network=container.network_policy,
        timeout=container.timeout / _NANOSECONDS,
    )

"""Running the container functions of Compositions: the entries of `spec.functions`.

Each is an image that reads a FunctionIO and writes one. It is run by the runner that listens where the
function says, or right here where it does not say.
"""

from __future__ import annotations

from crossply.compose.messages import Request, Response
from crossply.containers.store import Store
from crossply.errors import CrossplyError
from crossply.functions.function_io.carried import carried_by
from crossply.functions.function_io.reading import read
from crossply.functions.function_io.writing import write
from crossply.functions.image_runs import ImageRun, ImageRuns, keychain_of
from crossply.functions.runner_client import call_runner, is_our_own
from crossply.kinds.composition import Step
from crossply.kinds.container_function import DEFAULT_ENDPOINT, ContainerFunction
from crossply.xpkg.keychain import Keychain
from crossply.xpkg.registry import Trust

_NANOSECONDS = 1e9


class ContainerSteps:
    """Runs container functions; those of one control plane, or of one command."""

    def __init__(self, store: Store, logins: Keychain | None = None, trust: Trust | None = None) -> None:
        """`logins` are used besides the pull secrets that a function names, and only here."""
        self._runs = ImageRuns(store, trust=trust)
        self._logins = logins

    def __call__(self, step: Step, request: Request, timeout: float) -> Response:
        """Run the function of a step within so many seconds."""
        container = step.container
        assert container is not None
        carried = carried_by(request, container.templates)
        # A Composition may name any address: our own logins are not sent there, only named pull secrets.
        others = self._logins if container.endpoint == DEFAULT_ENDPOINT else None
        wanted = _wanted(container, keychain_of(request.credentials, others))
        try:
            written = self._run(container, wanted, write(request, container.config, carried), timeout)
            return read(written, request, carried, step.name)
        except CrossplyError as problem:
            raise problem.within(f'cannot run function "{step.name}": image "{container.image}"') from None

    def _run(self, container: ContainerFunction, wanted: ImageRun, data: bytes, timeout: float) -> bytes:
        # Anybody on this machine could listen at an address that is nobody's in particular: only a runner of
        # our own user is trusted with what functions are told.
        if container.endpoint != DEFAULT_ENDPOINT or is_our_own(DEFAULT_ENDPOINT):
            return call_runner(container.endpoint, wanted, data, timeout)
        return self._runs.run(wanted, data, timeout)


def _wanted(container: ContainerFunction, keychain: Keychain) -> ImageRun:
    return ImageRun(
        image=container.image,
        pull_policy=container.pull_policy,
        keychain=keychain,
        memory=container.memory_limit,
        cpu=container.cpu_limit,
        network=container.network_policy,
        timeout=container.timeout / _NANOSECONDS,
    )

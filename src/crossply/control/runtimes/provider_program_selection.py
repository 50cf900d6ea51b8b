"""The program of a Provider: a process that annotations name, or the container of its image."""

from __future__ import annotations

import asyncio
import os
from typing import NamedTuple

from crossply.containers.launcher_client import current_launcher
from crossply.containers.oci_runtime import find_engine
from crossply.containers.settings import Settings
from crossply.control.runtimes.manifest_metadata import Subject
from crossply.control.runtimes.provider_container import ContainerProgram, provider_settings
from crossply.control.runtimes.provider_environment import process_environment
from crossply.control.runtimes.provider_network_isolation import ProviderNetwork
from crossply.control.runtimes.provider_process import ProcessProgram
from crossply.control.runtimes.pulled_images import RevisionImages
from crossply.control.runtimes.runtime import NotRunning
from crossply.control.runtimes.service_account_files import ProviderFiles
from crossply.control.runtimes.supervisor import Program
from crossply.functions.failures import RuntimeAnnotationError
from crossply.functions.local_provider_annotations import (
    is_local_provider,
    provider_command,
    provider_directory,
)

_STATE = "CROSSPLY_PROVIDER_DATA"
"""The variable that names a directory in which a process can keep what it wants."""
_PULL_SECONDS = 2.0
"""How long a reconcile of a revision waits for its image; a longer pull is requeued."""
_NO_RUNTIME = (
    "providers of this control plane are run by something else: --package-runtime names External for them"
)


class ProgramContext(NamedTuple):
    """What the program of one revision is made with."""

    subject: Subject
    files: ProviderFiles
    settings: Settings
    """Arguments, environment and limits that a runtime config says."""


class ProviderPrograms:
    """Makes programs for one API server."""

    def __init__(
        self, server: str, images: RevisionImages | None, network: ProviderNetwork, state: str
    ) -> None:
        """`server` is its URL. Without images there are no containers; `state` may be empty."""
        self._server, self._images, self._network, self._state = server, images, network, state

    async def program(self, context: ProgramContext) -> Program:
        """The program; raises NotRunning while it cannot be started."""
        if is_local_provider(context.subject.revision):
            return self._process(context)
        return await self._container(context)

    def _process(self, context: ProgramContext) -> Program:
        subject, settings = context.subject, context.settings
        try:
            words = [*provider_command(subject.revision), *(settings.arguments or ())]
        except RuntimeAnnotationError as problem:
            raise NotRunning(str(problem), hint=problem.hint) from None
        environment = process_environment(subject, context.files, self._server)
        if self._state:
            environment[_STATE] = self._state_directory(subject)
        environment |= dict(variable.split("=", 1) for variable in settings.environment)
        return ProcessProgram(words, provider_directory(subject.revision), environment)

    def _state_directory(self, subject: Subject) -> str:
        directory = os.path.join(self._state, subject.package)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        return directory

    async def _container(self, context: ProgramContext) -> Program:
        if self._images is None:
            raise NotRunning(_NO_RUNTIME)
        find_engine("", os.environ)
        await asyncio.to_thread(current_launcher)  # raises where containers are forbidden
        subject = context.subject
        image = await self._images.fetch(subject.revision, _PULL_SECONDS)
        settings = provider_settings(subject, context.files, context.settings, self._server, self._network)
        return ContainerProgram(image, settings)

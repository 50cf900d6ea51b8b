"""Which runner serves a Function: the decision, and the opening of the runner.

In this order: our annotation `crossply.dev/runtime`; our `crossply.dev/file`, a Python file,
`crossply.dev/templates`, a directory of Go templates, and `crossply.dev/kcl`, a directory of KCL files; the
command's `--function-runtime=builtin` for a package that is built in; Crossplane's
`render.crossplane.io/runtime` where it says Development or InProcess; the command's `--function-runtime`;
Crossplane's annotation where it says Docker; and without any of them the built-in function that replaces the
published package, else a container: one that is started here where crun or runc is installed, and one of
Docker's where not. Where Crossplane's annotation says Docker and none answers, it is one of ours too. A
package that only shares the name of a built-in function is replaced by it only where an annotation or the
flag says so.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from crossply.functions import builtin
from crossply.functions.failures import FunctionNotBound, RuntimeAnnotationError
from crossply.functions.reply_limits import MAX_REPLY
from crossply.functions.runner import Runner
from crossply.values import Object

RUNTIME = "crossply.dev/runtime"
COMMAND = "crossply.dev/command"
PYTHON_FILE = "crossply.dev/file"
TEMPLATES_DIRECTORY = "crossply.dev/templates"
KCL_DIRECTORY = "crossply.dev/kcl"
TLS_CERTS_DIR = "crossply.dev/tls-certs-dir"
CROSSPLANE_RUNTIME = "render.crossplane.io/runtime"
DEVELOPMENT_TARGET = "render.crossplane.io/runtime-development-target"
DEFAULT_TARGET = "localhost:9443"

BUILTIN, PROCESS, REMOTE, DOCKER = "builtin", "process", "remote", "docker"
CONTAINER, TO_COMPLETION = "container", "run-to-completion"
FILE, TEMPLATES, KCL = "file", "templates", "kcl"
ON_THIS_MACHINE = (PROCESS, FILE, TEMPLATES, KCL)
"""Runtimes that run a user's program on this machine, with all the rights of this process."""
FROM_IMAGES = (DOCKER, CONTAINER, TO_COMPLETION)
"""Those that run the image of a function, which has to be there first."""
CHOICES = (DOCKER, CONTAINER, BUILTIN)
"""What `--function-runtime` may say."""

_LOCAL_SCHEMES = ("unix", "unix-abstract", "vsock")
"""gRPC's schemes for addresses that are not on a network."""
_DOCKERS = ("name", "network", "target", "publish-address")
"""Annotations that only concern Docker."""
_CROSSPLANE_RUNTIMES = {"Docker": DOCKER, "Development": REMOTE, "InProcess": BUILTIN}


def choose_runtime(function: Object, preferred: str | None = None) -> str:
    """How a Function is run: by one of the openers below. `preferred` is the command's choice."""
    annotations = _annotations(function)
    own_runtime = _known(annotations, RUNTIME, _OPENERS)
    crossplane_runtime = _known(annotations, CROSSPLANE_RUNTIME, _CROSSPLANE_RUNTIMES)
    if own_runtime:
        return own_runtime
    if annotations.get(PYTHON_FILE):
        return FILE
    if annotations.get(TEMPLATES_DIRECTORY):
        return TEMPLATES
    if annotations.get(KCL_DIRECTORY):
        return KCL
    if preferred == BUILTIN and builtin.sharing_name(_package(function)):
        return BUILTIN
    if crossplane_runtime in ("Development", "InProcess"):
        return _CROSSPLANE_RUNTIMES[crossplane_runtime]
    if preferred:
        return preferred
    if crossplane_runtime:
        return DOCKER
    if builtin.for_package(_package(function)):
        return BUILTIN
    return DOCKER if _insists_on_docker(function) else CONTAINER


def _insists_on_docker(function: Object) -> bool:
    """Return whether an annotation is our own, or concerns only Docker."""
    annotations = _annotations(function)
    if annotations.get(RUNTIME):
        return True
    return any(f"{CROSSPLANE_RUNTIME}-docker-{key}" in annotations for key in _DOCKERS)


def remote_target(function: Object) -> str:
    """Where a Function that runs already is called."""
    return _annotations(function).get(DEVELOPMENT_TARGET) or DEFAULT_TARGET


def bind(function: Object, preferred: str | None = None, max_reply: int = MAX_REPLY) -> Runner:
    """The runner that serves a Function; `max_reply` limits a built-in function's reply, in bytes."""
    runtime = choose_runtime(function, preferred)
    if runtime == BUILTIN:
        return _builtin(function, max_reply)
    if runtime == DOCKER and not preferred and not _insists_on_docker(function):
        return _docker_or_container(function)
    return _OPENERS[runtime](function)


def bind_builtin(name: str, label: str, max_reply: int = MAX_REPLY) -> Runner:
    """The runner of a built-in function; `label` is what error messages call it."""
    from crossply.functions.in_process import InProcess

    return InProcess(label, builtin.load(name), max_reply, measures_itself=name in builtin.MEASURE_THEMSELVES)


def _builtin(function: Object, max_reply: int = MAX_REPLY) -> Runner:
    package = _package(function)
    name = builtin.sharing_name(package)
    if name is None:
        raise FunctionNotBound(
            f'cannot run Function "{_name(function)}": no built-in function stands for package "{package}"',
            hint=f"{_not_built_in(function)}; {_ALTERNATIVES}",
        )
    return bind_builtin(name, _name(function), max_reply)


def _remote(function: Object) -> Runner:
    from crossply.functions.remote import Remote

    certificates = _annotations(function).get(TLS_CERTS_DIR)
    is_built_in = builtin.sharing_name(_package(function))
    instead = f"{_RUN_BUILT_IN}, or remove the annotation" if is_built_in else ""
    target = remote_target(function)
    # A function that runs already must be reachable at once.
    return Remote(_name(function), target, certificates, wait_for_ready=False, instead=instead)


def _process(function: Object) -> Runner:
    from crossply.functions.local_process import LocalProcess

    command = _annotations(function).get(COMMAND) or _command_of_file(function)
    if not command:
        raise RuntimeAnnotationError(
            f'cannot run Function "{_name(function)}": annotation "{COMMAND}" is required',
            hint=f"set it to a command that serves gRPC, such as: {COMMAND}: python main.py --insecure "
            f"--address {{address}}; or set {PYTHON_FILE} to a Python file",
        )
    return LocalProcess(_name(function), command)


def _command_of_file(function: Object) -> str:
    """The command that serves a Python file, and loads it again when it changes."""
    import shlex
    import sys

    file = _annotations(function).get(PYTHON_FILE)
    # -P: modules of the working directory do not stand in for those of Crossply and its libraries.
    words = [sys.executable, "-P", "-m", "crossply.cli", "function", "run", "--reload", "--insecure"]
    place = "--network unix --address {socket}"
    # After "--" nothing is a flag, whatever the file is called.
    return f"{shlex.join(words)} {place} -- {shlex.quote(file)}" if file else ""


def _file(function: Object) -> Runner:
    from crossply.functions.python_file import PythonFile

    file = _annotations(function).get(PYTHON_FILE)
    if not file:
        raise RuntimeAnnotationError(
            f'cannot run Function "{_name(function)}": annotation "{PYTHON_FILE}" is required',
            hint=f"set it to the Python file that has the function: {PYTHON_FILE}: main.py",
        )
    return PythonFile(_name(function), file)


def _templates(function: Object) -> Runner:
    from crossply.functions.template_directory_function import TemplatesDirectory

    directory = _annotations(function).get(TEMPLATES_DIRECTORY)
    if not directory:
        raise RuntimeAnnotationError(
            f'cannot run Function "{_name(function)}": annotation "{TEMPLATES_DIRECTORY}" is required',
            hint=f"set it to the directory of the templates: {TEMPLATES_DIRECTORY}: functions/compose",
        )
    return TemplatesDirectory(directory)


def _kcl(function: Object) -> Runner:
    from crossply.functions.kcl_directory import KclDirectory

    directory = _annotations(function).get(KCL_DIRECTORY)
    if not directory:
        raise RuntimeAnnotationError(
            f'cannot run Function "{_name(function)}": annotation "{KCL_DIRECTORY}" is required',
            hint=f"set it to the directory of the KCL module: {KCL_DIRECTORY}: functions/compose",
        )
    return KclDirectory(directory)


class HostUse(NamedTuple):
    """Something of the machine that we run on, which a Function's annotation names."""

    annotation: str
    description: str
    path: str | None
    """Where it is; None for what is not confined to one place."""


def host_uses(function: Object) -> list[HostUse]:
    """What a Function would run or read of the machine that we run on."""
    runtime, annotations = choose_runtime(function), _annotations(function)
    if runtime == REMOTE:
        return _remote_host_uses(annotations)
    if runtime == PROCESS and annotations.get(COMMAND):
        return [HostUse(COMMAND, "a command", None)]
    if runtime == TEMPLATES:
        directory = annotations.get(TEMPLATES_DIRECTORY, "")
        return [HostUse(TEMPLATES_DIRECTORY, "a directory of templates", os.path.abspath(directory))]
    if runtime == KCL:
        from crossply.functions.kcl_directory import readable_root

        root = readable_root(annotations.get(KCL_DIRECTORY, ""))
        return [HostUse(KCL_DIRECTORY, "a directory of KCL files, and modules of its project", root)]
    if runtime in ON_THIS_MACHINE:
        from crossply.sdk.function_file import split_place

        file = split_place(annotations.get(PYTHON_FILE, ""))[0]
        return [HostUse(PYTHON_FILE, "a Python file", file)]
    return []


def _remote_host_uses(annotations: dict[str, str]) -> list[HostUse]:
    from urllib.parse import unquote

    uses = []
    certificates = annotations.get(TLS_CERTS_DIR)
    if certificates:
        uses.append(HostUse(TLS_CERTS_DIR, "a directory of certificates", os.path.abspath(certificates)))
    scheme, _, path = annotations.get(DEVELOPMENT_TARGET, "").strip().partition(":")
    if scheme.lower() in _LOCAL_SCHEMES:
        # gRPC reads a target as a URI, so that %2F is a slash.
        place = os.path.abspath(unquote(path)) if scheme.lower() == "unix" else None
        uses.append(HostUse(DEVELOPMENT_TARGET, "a socket", place))
    return uses


def sources_of(function: Object) -> list[str]:
    """The words of the command that runs a function from files of this machine; none for other functions."""
    import shlex

    runtime, annotations = choose_runtime(function), _annotations(function)
    if runtime == PROCESS and annotations.get(COMMAND):
        try:
            return shlex.split(annotations[COMMAND])
        except ValueError:
            return []  # reported when it is run
    if runtime == TEMPLATES:
        return ["templates", annotations.get(TEMPLATES_DIRECTORY, "")]
    if runtime == KCL:
        return ["kcl", annotations.get(KCL_DIRECTORY, "")]
    if runtime in ON_THIS_MACHINE and annotations.get(PYTHON_FILE):
        from crossply.sdk.function_file import split_place

        return ["python", split_place(annotations[PYTHON_FILE])[0]]
    return []


def _docker(function: Object) -> Runner:
    from crossply.functions.docker_container import DockerContainer
    from crossply.functions.docker_settings import read_settings

    settings = read_settings(_name(function), _package(function), _annotations(function))
    return DockerContainer(settings, f"{_built_in_advice(function)}; or {_ALTERNATIVES}")


def _container(function: Object) -> Runner:
    from crossply.containers.oci_runtime import engine_installed

    return _in_container(function, to_completion=False) if engine_installed(os.environ) else _docker(function)


def _docker_or_container(function: Object) -> Runner:
    """Crossplane's Docker where there is one; what it is there for works without."""
    from crossply.functions.docker_engine import find_engine
    from crossply.functions.failures import ContainerEngineUnavailable

    try:
        find_engine(os.environ)
    except ContainerEngineUnavailable:
        return _container(function)
    return _docker(function)


def _to_completion(function: Object) -> Runner:
    return _in_container(function, to_completion=True)


def _in_container(function: Object, to_completion: bool) -> Runner:
    from crossply.functions.cli_container_runners import open_locally
    from crossply.functions.docker_settings import read_settings

    settings = read_settings(_name(function), _package(function), _annotations(function))
    return open_locally(settings, to_completion, f"{_built_in_advice(function)}; or {_WITHOUT_IMAGE}")


def _built_in_advice(function: Object) -> str:
    package = _package(function)
    if builtin.for_package(package):
        return _RUN_BUILT_IN
    shared = shared_name(package)
    return f"{shared}; to use that, {_RUN_BUILT_IN}" if shared else _not_built_in(function)


def shared_name(package: str) -> str:
    """Why a package that only shares the name of a built-in function is not replaced; empty for others."""
    name = builtin.sharing_name(package)
    if name is None or builtin.for_package(package):
        return ""
    repositories = " and ".join(builtin.about(name).repositories)
    return f"{package} only shares its name with the built-in function {name}, which replaces {repositories}"


def _not_built_in(function: Object) -> str:
    named = builtin.find(_name(function))
    if named is None:
        return _NOT_BUILT_IN
    return (
        f'"{_name(function)}" is the name of a built-in function, but the package decides: set spec.package '
        f"to the published one, {builtin.about(named).package}"
    )


_OPENERS = {
    BUILTIN: _builtin,
    FILE: _file,
    TEMPLATES: _templates,
    KCL: _kcl,
    PROCESS: _process,
    REMOTE: _remote,
    DOCKER: _docker,
    CONTAINER: _container,
    TO_COMPLETION: _to_completion,
}

_RUN_BUILT_IN = f"run it built in: --function-runtime={BUILTIN}, or the annotation {RUNTIME}: {BUILTIN}"
_NOT_BUILT_IN = f"built in are {', '.join(builtin.PUBLISHED)}"
_WITHOUT_IMAGE = (
    f"annotate the Function with {CROSSPLANE_RUNTIME}: Development if it is running already, or with "
    f"{RUNTIME}: process and its command"
)
_ALTERNATIVES = f"{_WITHOUT_IMAGE}, or install crun, or start Docker or podman, to run its image"


def _known(annotations: dict[str, str], key: str, values: dict[str, Any]) -> str:
    value = annotations.get(key, "")
    if value and value not in values:
        raise RuntimeAnnotationError(
            f'unsupported "{key}" annotation value "{value}" (unknown runtime)',
            hint=f"use one of {', '.join(values)}",
        )
    return value


def _annotations(function: Object) -> dict[str, str]:
    written = (function.get("metadata") or {}).get("annotations") or {}
    return {key: value for key, value in written.items() if isinstance(value, str)}


def _name(function: Object) -> str:
    return str((function.get("metadata") or {}).get("name") or "")


def _package(function: Object) -> str:
    return str((function.get("spec") or {}).get("package") or "")

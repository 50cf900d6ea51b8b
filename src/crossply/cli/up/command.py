"""`crossply up`: run a control plane on this machine.

The API server is a process of its own (`api_process`), and the controllers talk to it over HTTPS as they
would to any cluster. One control plane runs on a data directory at a time (`local_control_plane.lock`).
"""

from __future__ import annotations

import os

from crossply.cli.apiserver.encryption_flags import (
    ENCRYPTION_FLAGS,
    codec_of,
    encryption_words,
    take_key_variable,
)
from crossply.cli.controller.control_plane_process import run_plane, unless_stopped
from crossply.cli.controller.feature_and_limit_flags import (
    CONTROLLED_ROLLOUT,
    EXTRA_RESOURCES,
    FUNCTION_TIMEOUT,
    MANAGED_FLAGS,
    OPERATIONS,
    activation_of,
)
from crossply.cli.controller.function_flags import HOST_ACCESS_FLAGS, host_access
from crossply.cli.controller.observability_flags import (
    HERE_ONLY,
    INSPECTOR_FLAGS,
    LOG_FORMAT,
    LOOPBACK,
    debug_flag,
    inspector_socket,
    metrics_port,
    observed,
)
from crossply.cli.controller.package_flags import TRUST_FLAGS, local_package_settings
from crossply.cli.controller.run_recording_flags import UP_RUN_FLAGS, run_settings
from crossply.cli.framework.command import Argument, Command, Flag, Invocation, UsageError
from crossply.cli.framework.common_flags import SHELL_FLAGS, allow_shell
from crossply.cli.framework.flag_values import parse_address
from crossply.cli.local_control_plane.data_directory import data_flag, open_data_directory
from crossply.cli.up.dashboard_flags import DASHBOARD_FLAGS, offered_address
from crossply.cli.up.provider_flags import PROVIDER_FLAGS, package_runtimes, provider_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.cli.up.api_process import ApiSettings
    from crossply.control.options import Options
    from crossply.runs.recorder import RunSettings

READY_FD = Flag(
    "ready-fd", "Write to this file descriptor when the control plane is ready.", kind="int", hidden=True
)


def run(invocation: Invocation) -> int:
    """Run here until interrupted, or in the background."""
    # Read before anything is started: what is wrong with it is the user's to correct.
    parse_address(invocation["listen"])
    allow_shell(invocation)
    options = _options(invocation)
    if invocation["files"]:
        from crossply.cli.up.file_application import apply_to_running
        from crossply.cli.up.files.file_set import check_paths

        check_paths(invocation["files"])
        applied = apply_to_running(invocation)
        if applied is not None:
            return applied
    elif invocation["watch"]:
        raise UsageError("--watch needs files", hint="crossply up --watch platform/ xr.yaml")
    if invocation["detach"]:
        from crossply.cli.up.background_start import start_detached

        invocation.stdout.write(start_detached(invocation) + _greeting(invocation["data"]))
        return 0
    import uvloop

    from crossply.cli.local_control_plane import lock as up_lock
    from crossply.cli.up import background_start as detach
    from crossply.cli.up.api_process import ApiSettings
    from crossply.cli.up.file_application import screen_for_picture

    detach.keep_from_children(invocation)
    lock = up_lock.acquire(open_data_directory(invocation))
    options = options._replace(runs=_runs(invocation))
    settings = ApiSettings(
        invocation["data"],
        invocation["in-memory"],
        lock.descriptor,
        encryption_words(invocation),
        take_key_variable(invocation),
    )
    try:
        with screen_for_picture(invocation):
            uvloop.run(_serve(invocation, options, settings))
    finally:
        lock.release()
    return 0


async def _serve(invocation: Invocation, options: Options, settings: ApiSettings) -> None:
    from asyncio import Event
    from contextlib import ExitStack

    from crossply.cli.framework.progress import progress
    from crossply.cli.up.api_process import ApiProcess, choose_address, save_port, start_on_some_port
    from crossply.cli.up.background_start import report_ready
    from crossply.cli.up.dashboard_process import make_dashboard
    from crossply.cli.up.file_application import apply_when_ready
    from crossply.cli.up.metrics_socket import figures_served
    from crossply.control.control_plane import ControlPlane
    from crossply.control.recorded_run_service import RunServing
    from crossply.kube.client import Client
    from crossply.kube.config import load_config
    from crossply.kube.stop_signals import stop_requested

    data = invocation["data"]
    stopped = stop_requested()
    ready = Event()
    starting = ExitStack()

    def announce_ready() -> None:
        starting.close()
        # In the background, a log is written to: the address of the dashboard is not for it.
        is_foreground = invocation["ready-fd"] is None
        invocation.stdout.write(f"control plane ready\n{_greeting(data, is_foreground)}")
        invocation.stdout.flush()
        if dashboard is not None:
            dashboard.start()
        ready.set()
        if not invocation["files"]:
            report_ready(invocation)

    invocation.stderr.write("crossply: starting the API server ...\n")
    server = ApiProcess(settings, choose_address(invocation, data))
    dashboard = make_dashboard(invocation)
    if invocation["watch"]:  # otherwise the terminal shows the log
        starting.enter_context(progress(invocation, "starting the control plane", invocation.stdout))
    try:
        if not await unless_stopped(stopped, start_on_some_port(invocation, data, server)):
            return
        save_port(invocation, data, server.port)
        config = load_config(os.path.join(data, "kubeconfig"))
        options = options._replace(run_serving=RunServing("up", client_authority=config.authority))
        async with observed(invocation, LOOPBACK), figures_served(data), Client(config) as client:
            files = apply_when_ready(invocation, client, ready, lambda: report_ready(invocation))
            await run_plane(
                ControlPlane(client, options=options), stopped, announce_ready, server.run(), files
            )
    finally:
        starting.close()
        if dashboard is not None:
            await dashboard.stop()
        await server.stop()


def _options(invocation: Invocation) -> Options:
    from crossply.control.options import Options
    from crossply.control.runtimes.mutual_tls_certificates import CredentialSettings
    from crossply.control.runtimes.runtime_set import RuntimeSettings

    data = invocation["data"]
    return Options(
        function_seconds=invocation["function-timeout"],
        rollout=invocation["enable-controlled-rollout"],
        extra_resources=invocation["enable-composition-functions-extra-resources"],
        operations=invocation["enable-operations"],
        converts_crds=invocation["enable-custom-to-managed-resource-conversion"],
        activation=activation_of(invocation),
        packages=local_package_settings(invocation, os.path.join(data, "packages")),
        images=os.path.join(data, "images"),
        runtimes=RuntimeSettings(
            package_runtimes(invocation),
            CredentialSettings(directory=os.path.join(data, "credentials")),
            providers=provider_settings(invocation, data),
        ),
        host_access=host_access(invocation, data),
        inspector_socket=inspector_socket(invocation),
    )


def _runs(invocation: Invocation) -> RunSettings | None:
    """Where runs are recorded: with the data, and encrypted with the key that encrypts Secrets."""
    if not invocation["record-runs"]:
        return None
    directory = "" if invocation["in-memory"] else os.path.join(invocation["data"], "runs")
    return run_settings(invocation, directory, codec_of(invocation))


def _greeting(data: str, with_address: bool = True) -> str:
    address = offered_address(data) if with_address else ""
    return (
        f"try:  kubectl --kubeconfig {data}/kubeconfig get xrd,composition,function\n"
        + (f"see:  {address}\n" if address else "")
        + f"stop: crossply down --data {data}\n"
    )


COMMAND = Command(
    name="up",
    summary="Run a control plane on this machine.",
    description=(
        "Starts the embedded Kubernetes API server and the controllers. The data directory holds "
        "all data and a kubeconfig for kubectl. Installed Functions and Providers run in containers; "
        "crossply logs shows their output. Ctrl-C stops everything.\n"
        "\n"
        "The named files and directories are applied when the control plane is ready: definitions first, "
        "then Compositions, packages and the rest, each as soon as its kind is served. With --watch they are "
        "applied again after every save; the command shows the trees of the applied resources and what each "
        "save changed, and deletes objects that are no longer in the files, except definitions, packages "
        "and namespaces. If the control plane is already running, the files are applied to it.\n"
        "\n"
        "The default data directory must have been created by you on this machine. The API "
        "server is restarted if it ends, and stops with this command."
    ),
    examples=(
        "crossply up",
        "crossply up --watch platform/ xr.yaml",
        "crossply up --detach --data ./state",
        "crossply up --in-memory",
        "crossply up --allow-local-functions=.",
    ),
    run=run,
    arguments=(
        Argument(
            "files",
            "Files to apply, or directories with YAML files in them or below.",
            kind="path",
            optional=True,
            many=True,
        ),
    ),
    flags=(
        Flag("watch", "Apply the files again after every save, and show what changes.", short="w"),
        data_flag("The data directory: objects, certificates and the kubeconfig."),
        Flag("detach", "Run in the background. Stop it with crossply down.", short="d"),
        Flag("in-memory", "Store objects in memory only. They are lost when the control plane stops."),
        Flag(
            "listen",
            "The address of the API server, as HOST:PORT. Port 0 selects a free port. By default "
            "the port of the last start is used again if it is free.",
            kind="string",
            default="127.0.0.1:0",
            placeholder="127.0.0.1:0",
        ),
        READY_FD,
        *DASHBOARD_FLAGS,
        *ENCRYPTION_FLAGS,
        FUNCTION_TIMEOUT,
        CONTROLLED_ROLLOUT,
        EXTRA_RESOURCES,
        OPERATIONS,
        *MANAGED_FLAGS,
        *PROVIDER_FLAGS,
        *HOST_ACCESS_FLAGS,
        *SHELL_FLAGS,
        *TRUST_FLAGS,
        *UP_RUN_FLAGS,
        *INSPECTOR_FLAGS,
        metrics_port(0, HERE_ONLY),
        LOG_FORMAT,
        debug_flag(),
    ),
)

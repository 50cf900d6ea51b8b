"""`crossply controller`: run the controllers for an existing cluster, several replicas of them by shards."""

from __future__ import annotations

from crossply.cli.controller.control_plane_process import (
    HEALTH_PROBE_PORT,
    probes_served,
    run_plane,
)
from crossply.cli.controller.feature_and_limit_flags import WORK_FLAGS, options_of
from crossply.cli.controller.function_flags import CALL_FLAGS, call_settings
from crossply.cli.controller.observability_flags import (
    IN_A_CLUSTER,
    INSPECTOR_FLAGS,
    LOG_FORMAT,
    debug_flag,
    inspector_socket,
    metrics_port,
    observed,
    reachable_host,
)
from crossply.cli.controller.package_flags import RUNTIME_FLAGS, runtime_settings
from crossply.cli.controller.run_recording_flags import CONTROLLER_RUN_FLAGS, controller_serving, run_settings
from crossply.cli.framework.command import Command, Flag, Invocation, UsageError
from crossply.cli.framework.common_flags import SHELL_FLAGS, allow_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.webhooks.webhook_address import WebhookSettings
    from crossply.kube.client import Client
    from crossply.kube.lease_objects import Timing
    from crossply.kube.sharding import ShardOwner


_PORT_BEHIND_A_SERVICE = 9443

_WEBHOOK_FLAGS = (
    Flag(
        "enable-webhooks",
        "Refuse to delete resources that a Usage protects. Enabled by default. If disabled, "
        "Usages only report what is in use.",
        default=True,
        env="ENABLE_WEBHOOKS",
        aliases=("webhook-enabled",),
    ),
    Flag(
        "webhook-port",
        f"The port for webhooks: {_PORT_BEHIND_A_SERVICE} behind a Service, otherwise a free one.",
        kind="int",
    ),
    Flag(
        "webhook-host",
        "The host name or address at which API servers reach this machine, if there is no Service.",
        kind="string",
    ),
    Flag(
        "webhook-service-name",
        "The Service of the webhook servers of all replicas.",
        kind="string",
        env="WEBHOOK_SERVICE_NAME",
    ),
    Flag(
        "webhook-service-namespace",
        "The namespace of the webhook Service and of the Secret with its certificate.",
        kind="string",
        default="crossplane-system",
        env="WEBHOOK_SERVICE_NAMESPACE",
    ),
)

_REPLICA_FLAGS = (
    Flag(
        "namespace",
        "The namespace of the control plane: of its Leases, of the Deployments of packages, and "
        "of Secrets with certificates.",
        short="n",
        kind="string",
        default="crossplane-system",
        env="POD_NAMESPACE",
    ),
    Flag(
        "replica",
        "The identity of this replica in Leases. Defaults to the host name.",
        kind="string",
        env="POD_NAME",
    ),
    Flag(
        "shards",
        "The number of shards that replicas divide the work into. The first replica sets it; to "
        "change it, stop all replicas and delete the Lease crossply-shards. 0 runs without "
        "Leases: make sure that only one replica runs.",
        kind="int",
        default=16,
        placeholder="16",
        env="SHARDS",
    ),
    Flag(
        "lease-duration",
        "How long until an unresponsive replica's shards are reassigned. A write may take a third of it.",
        kind="duration",
        default="12s",
        placeholder="12s",
        env="LEASE_DURATION",
    ),
    Flag(
        "leader-election",
        "No effect: all replicas work, each on its own shards, so there is no leader.",
        short="l",
        env="LEADER_ELECTION",
        no_effect="all replicas work, each on its own shards, so there is no leader",
    ),
)


def run(invocation: Invocation) -> int:
    """Run until interrupted."""
    import uvloop

    allow_shell(invocation)
    uvloop.run(_run(invocation))
    return 0


async def _run(invocation: Invocation) -> None:
    from crossply.control.control_plane import ControlPlane
    from crossply.kube.client import Client
    from crossply.kube.config import load_config
    from crossply.kube.stop_signals import stop_requested

    stopped = stop_requested()
    config = load_config(invocation["kubeconfig"], invocation["context"] or "")
    timing = timing_of(invocation)

    def announce_ready() -> None:
        invocation.stdout.write(f"control plane ready\nworking for {config.server}\n")
        invocation.stdout.flush()

    async with observed(invocation, reachable_host()), Client(config, timing.transit) as client:
        keeper = invocation["keeper"]
        shards = shards_of(invocation, client.acting_as(keeper) if keeper else client)
        options = options_of(invocation)._replace(
            runtimes=runtime_settings(invocation),
            calls=call_settings(invocation),
            runs=run_settings(invocation, invocation["runs-dir"]),
            run_serving=controller_serving(invocation),
            inspector_socket=inspector_socket(invocation),
        )
        plane = ControlPlane(client, shards, _webhook_settings(invocation), options)
        port = invocation["health-probe-port"]
        async with probes_served(port, lambda: plane.is_ready, plane.start_progress):
            await run_plane(plane, stopped, announce_ready)


def _webhook_settings(invocation: Invocation) -> WebhookSettings | None:
    """What the flags say; None for no webhooks."""
    from crossply.control.webhooks.webhook_address import WebhookSettings

    if not invocation["enable-webhooks"]:
        return None
    service, port = invocation["webhook-service-name"] or "", invocation["webhook-port"]
    if port is None:
        port = _PORT_BEHIND_A_SERVICE if service else 0
    return WebhookSettings(
        port, invocation["webhook-host"] or "", service, invocation["webhook-service-namespace"]
    )


def timing_of(invocation: Invocation) -> Timing:
    """How long what lasts."""
    from crossply.kube.lease_objects import Timing

    if invocation["lease-duration"] < 1.0:
        raise UsageError("--lease-duration: the minimum is 1s")
    return Timing.lasting(invocation["lease-duration"])


def shards_of(invocation: Invocation, client: Client) -> ShardOwner | None:
    """This replica's part, or None if it is to do everything."""
    from crossply.kube.leased_shards import LeasedShards
    from crossply.kube.replica_heartbeat import kernel_alarm

    if invocation["shards"] < 1:
        return None
    return LeasedShards(
        client,
        namespace=invocation["namespace"],
        count=invocation["shards"],
        replica=invocation["replica"] or "",
        timing=timing_of(invocation),
        watchdog=kernel_alarm,
    )


COMMAND = Command(
    name="controller",
    summary="Run the controllers for a Kubernetes cluster.",
    description=(
        "Installs the CRDs of a control plane and reconciles composite resources, in the cluster "
        "of the kubeconfig or in the one it runs in. Any number of replicas can run for a "
        "cluster: they divide the work into shards by Leases, and the shards of a lost replica "
        "are reassigned. Ctrl-C finishes reconciles in progress. The next start continues from "
        "the state in the cluster."
    ),
    examples=(
        "crossply controller",
        "crossply controller --kubeconfig ./kubeconfig --context=test",
        "crossply controller --replica=second --metrics-port=0 --health-probe-port=0",
    ),
    run=run,
    flags=(
        Flag("kubeconfig", "The kubeconfig file. Defaults to $KUBECONFIG, or ~/.kube/config.", kind="path"),
        Flag("context", "The context of the kubeconfig to use.", kind="string"),
        *_REPLICA_FLAGS,
        *WORK_FLAGS,
        *RUNTIME_FLAGS,
        *CALL_FLAGS,
        *SHELL_FLAGS,
        *CONTROLLER_RUN_FLAGS,
        *INSPECTOR_FLAGS,
        *_WEBHOOK_FLAGS,
        HEALTH_PROBE_PORT,
        metrics_port(8080, IN_A_CLUSTER),
        LOG_FORMAT,
        debug_flag("d"),
    ),
)

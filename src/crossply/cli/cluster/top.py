"""`crossply cluster top`: show CPU and memory usage of the control plane's pods.

The pods are those of the core and of packages, selected by their labels. Their usage comes from the metrics
API, one pod at a time, as `crossplane cluster top` does: so the right to get metrics is enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.xpkg.cluster_client import IMPERSONATION
from crossply.errors import CrossplyError
from crossply.kube.kind import Kind
from crossply.values import Object

if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.kube.failures import KubeError

POD = Kind("", "v1", "Pod", "pods", True)
POD_METRICS = Kind("metrics.k8s.io", "v1beta1", "PodMetrics", "pods", True)
_PACKAGE_LABEL, _REVISION = "pkg.crossplane.io/", "revision"
_PART_OF, _CORE = "app.kubernetes.io/part-of", "crossplane"
_NO_METRICS = (
    "error adding metrics to pod, check if metrics-server is running or wait until metrics are available "
    "for the pod"
)
_NANO, _MILLI = 10**9, 10**6
_MEBI = 2**20 * _NANO
_LARGEST_SCALE = 30


class TopError(CrossplyError):
    """The resource usage of the control plane's pods could not be read."""

    code = "CP-582"


class Usage(NamedTuple):
    """One pod, and what it uses: processors and bytes, both in billionths."""

    type: str
    namespace: str
    name: str
    cpu: int = 0
    memory: int = 0


def run(invocation: Invocation) -> int:
    """Print a row for each pod."""
    import asyncio

    pods = asyncio.run(_usages(invocation))
    if not pods:
        invocation.stdout.write(f"No Crossplane pods found in the namespace {invocation['namespace']}\n")
        return 0
    if invocation["summary"]:
        invocation.stdout.write(summary(pods) + "\n")
    invocation.stdout.write(table(pods))
    return 0


async def _usages(invocation: Invocation) -> list[Usage]:
    """The pods by type and name, with what they use."""
    import asyncio

    import orjson

    from crossply.cli.xpkg.cluster_client import cluster
    from crossply.kube.failures import KubeError

    async with cluster(invocation) as client:
        try:
            listed = await client.list(POD, invocation["namespace"])
        except KubeError as problem:
            raise _top_error(
                problem, "could not fetch pods", client, POD.path(invocation["namespace"])
            ) from None
        pods = [pod for item in listed.items if (pod := recognized(orjson.loads(item)))]
        return sorted(await asyncio.gather(*(_measured(client, pod) for pod in pods)))


def recognized(pod: Object) -> Usage | None:
    """The pod, if its labels say that it belongs to a control plane."""
    metadata = pod["metadata"]
    labels: dict[str, str] = metadata.get("labels") or {}
    packages = sorted(label for label in labels if label.startswith(_PACKAGE_LABEL))
    types = [label.removeprefix(_PACKAGE_LABEL) for label in packages]
    types += [_CORE] if labels.get(_PART_OF) == _CORE else []
    package_type = next((label for label in types if label != _REVISION), None)
    return None if package_type is None else Usage(package_type, metadata["namespace"], metadata["name"])


async def _measured(client: Client, pod: Usage) -> Usage:
    from crossply.kube.failures import KubeError

    try:
        metrics = await client.get(POD_METRICS, pod.name, pod.namespace)
    except KubeError as problem:
        raise _top_error(problem, _NO_METRICS, client, POD_METRICS.path(pod.namespace, pod.name)) from None
    if metrics is None:
        missing = f'podmetrics.metrics.k8s.io "{pod.namespace}/{pod.name}" not found'
        hint = "metrics of a new pod come after a minute or so: try again then"
        raise TopError(f"{_NO_METRICS}: {missing}", hint=hint)
    used = [container.get("usage") or {} for container in metrics.get("containers") or ()]
    return pod._replace(cpu=_sum(used, "cpu", pod), memory=_sum(used, "memory", pod))


def _sum(used: list[Object], resource: str, pod: Usage) -> int:
    """What all containers use of a resource, in billionths: no quantity is finer than that."""
    from crossply.values.quantity import QuantityError, parse

    total = 0
    for pod_usage in used:
        text = str(pod_usage.get(resource) or "0")
        try:
            amount = parse(text)
        except QuantityError as problem:
            raise problem.within(f"{resource} of pod {pod.name}: {text!r}") from None
        if amount.scale > _LARGEST_SCALE:
            raise TopError(f"{resource} of pod {pod.name}: {text!r} is more than any machine has")
        total += amount.unscaled * 10 ** (amount.scale + 9)
    return total


def _top_error(problem: KubeError, prefix: str, client: Client, path: str) -> TopError:
    """Why the server did not answer, with what to do about it."""
    from crossply.kube.failures import NotServed
    from crossply.resource_tree.request_failures import failure

    if isinstance(problem, NotServed):
        name = path.rpartition("/")[2]
        reason = f"the server could not find the requested resource (get {POD_METRICS.resource} {name})"
        hint = (
            "install metrics-server in the cluster, then kubectl top pods works as well; the API server of "
            "crossply up runs no pods and has no metrics"
        )
        return TopError(f"{prefix}: {reason}", hint=hint)
    return TopError(f"{prefix}: {failure(problem, client.config.server + path)}", hint=problem.hint)


def summary(pods: list[Usage]) -> str:
    """How many pods of each type there are, and what all of them use."""
    counts = Counter(pod.type for pod in pods)
    return "".join(
        [
            f"Nr of Crossplane pods: {len(pods)}\n",
            *(f"{name[:1].upper()}{name[1:]}: {count}\n" for name, count in sorted(counts.items())),
            f"Memory: {_mebibytes(pod.memory for pod in pods)}\n",
            f"CPU(cores): {_millicores(pod.cpu for pod in pods)}\n",
        ]
    )


def table(pods: list[Usage]) -> str:
    """A row for each pod."""
    from crossply.cli.framework.failure_reports import align

    rows = [("TYPE", "NAMESPACE", "NAME", "CPU(cores)", "MEMORY")]
    rows += [(*pod[:3], _millicores([pod.cpu]), _mebibytes([pod.memory])) for pod in pods]
    return align("".join("\t".join(row) + "\n" for row in rows))


def _millicores(amounts: Iterable[int]) -> str:
    """Rounded up, as Kubernetes rounds what is finer than a unit."""
    return f"{-(-sum(amounts) // _MILLI)}m"


def _mebibytes(amounts: Iterable[int]) -> str:
    return f"{sum(amounts) // _MEBI}Mi"


COMMAND = Command(
    "top",
    "Show CPU and memory usage of the control plane's pods.",
    run,
    flags=(
        Flag("summary", "Adds summary header for all Crossplane pods.", short="s"),
        Flag(
            "namespace",
            "Show pods from a specific namespace, defaults to crossplane-system.",
            short="n",
            kind="string",
            default="crossplane-system",
        ),
        *IMPERSONATION,
    ),
    description=(
        "Shows the pods of Crossplane or Crossply, of providers and of functions, by type and "
        "name. As with\n"
        "kubectl top pods, metrics-server must run in the cluster that KUBECONFIG or "
        "~/.kube/config names."
    ),
    examples=(
        "crossply cluster top",
        "crossply cluster top --summary",
        "crossply cluster top -n platform-system",
    ),
)

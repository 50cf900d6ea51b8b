"""How to reach the cluster, and as whom, by the flags of a command and its environment."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping

from crossply.cli.framework.command import Invocation
from crossply.kube.config import ClusterConfig, ConfigError, load_config
from crossply.kube.request_types import Actor
from crossply.resource_tree.trace_target import TraceError
from crossply.values.goquote import quote
from crossply.values.yaml import YamlError, load

_NO_CONFIGURATION = (
    "invalid configuration: no configuration has been provided, "
    "try setting KUBERNETES_MASTER environment variable"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Impersonated(Actor):
    """The user to impersonate, with a uid."""

    uid: str = ""

    def headers(self) -> list[tuple[str, str]]:
        """The headers that say so."""
        headers = [("Impersonate-User", self.user), *(("Impersonate-Group", group) for group in self.groups)]
        return [*headers, ("Impersonate-Uid", self.uid)] if self.uid else headers


def configuration(invocation: Invocation) -> ClusterConfig:
    """How to reach the cluster that the flags and the environment name, as the user that they name."""
    config = cluster_configuration(invocation["context"], invocation.environ)
    groups, uid = tuple(invocation["as-group"] or ()), invocation["as-uid"] or ""
    if not invocation["as"]:
        if groups or uid:
            raise TraceError(
                "requesting uid, groups or user-extra without impersonating a user", hint="add --as"
            )
        return config
    return dataclasses.replace(config, actor=Impersonated(invocation["as"], groups, uid))


def cluster_configuration(context: str, environ: Mapping[str, str]) -> ClusterConfig:
    """How to reach the cluster of a context of the kubeconfig; "" is the current context."""
    try:
        return load_config(context=context, environment=environ)
    except ConfigError as problem:
        raise _unusable(problem, context, environ) from None


def _unusable(problem: ConfigError, context: str, environ: Mapping[str, str]) -> TraceError:
    """The error, in kubectl's words for the two mistakes that are made most: no file, and no such context."""
    default = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".kube", "config")
    paths = [
        path for path in (environ.get("KUBECONFIG") or default).split(os.pathsep) if os.path.exists(path)
    ]
    reason, hint = str(problem), problem.hint
    if not paths:
        reason = _NO_CONFIGURATION
    elif context and not any(context in _contexts(path) for path in paths):
        reason, hint = f"context {quote(context)} does not exist", "kubectl config get-contexts lists them"
    return TraceError(f"failed to get kubeconfig: {reason}", hint=hint)


def _contexts(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            document = load(file.read())
    except (OSError, YamlError):
        return []
    contexts = document.get("contexts") if isinstance(document, dict) else None
    return [str(entry.get("name")) for entry in contexts or () if isinstance(entry, dict)]

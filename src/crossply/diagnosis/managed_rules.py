"""Rules for causes that a managed resource, or the API server behind it, reports."""

from __future__ import annotations

import re

from crossply.diagnosis.evidence import Evidence
from crossply.diagnosis.model import Cause
from crossply.diagnosis.root_cause_search import kubectl
from crossply.resource_tree.node import Node
from crossply.values.api_version import api_group

_NO_CONFIG = re.compile(
    r'(?P<kind>(?:Cluster)?ProviderConfig)\.(?P<group>\S+) "(?P<name>[^"]+)" not found', re.IGNORECASE
)
_WEBHOOK = re.compile(r'failed calling webhook "(?P<name>[^"]+)": (?P<reason>.+)', re.DOTALL)
_TERMINATING = re.compile(r"in namespace (?P<name>\S+) because it is being terminated")
_PENDING = "crossplane.io/external-create-pending"
_CLUSTER_CONFIG = "ClusterProviderConfig"


def _missing_config(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    missing = _NO_CONFIG.search(cause.sentence)
    if missing is None:
        return None
    group, name, namespace = missing["group"], missing["name"], node.reference.namespace
    sentence = f"{missing['kind']} {name} does not exist" + (
        f" in namespace {namespace}" if namespace else ""
    )
    same_name = [
        config
        for config in evidence.provider_configs
        if config["metadata"]["name"] == name and config["kind"] != missing["kind"]
    ]
    if any(config["kind"] == _CLUSTER_CONFIG for config in same_name):
        sentence += f"; there is a {_CLUSTER_CONFIG} {name}: refer to it with spec.providerConfigRef.kind"
    else:
        others = sorted(
            {f"{config['kind']} {config['metadata']['name']}" for config in evidence.provider_configs}
        )
        sentence += f"; there are {', '.join(others[:3])}" if others else "; there is none of any name"
    return cause._replace(sentence=sentence, command=f"kubectl get providerconfigs.{group} -A")


def _webhook_down(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    for sentence in (cause.sentence, *evidence.failures(node), *evidence.failures(parent)):
        failed = _WEBHOOK.search(sentence)
        if failed:
            return cause._replace(
                sentence=f"the webhook {failed['name']} does not answer: {failed['reason']}",
                command="kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
            )
    return None


def _namespace_terminating(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    for sentence in (cause.sentence, *evidence.failures(parent)):
        terminating = _TERMINATING.search(sentence)
        if terminating:
            name = terminating["name"]
            return cause._replace(
                sentence=f"namespace {name} is being deleted: nothing can be created in it",
                command=f"kubectl get namespace {name} -o yaml",
            )
    return None


def _creation_pending(cause: Cause, node: Node, parent: Node, evidence: Evidence) -> Cause | None:
    if _PENDING not in cause.sentence:
        return None
    return cause._replace(
        sentence="its Provider does not know whether it created the external resource, because it stopped in "
        "between: look whether it exists; if not, remove the annotation",
        command=f"{kubectl('annotate', node)} {_PENDING}-",
    )


def config_groups(causes: list[Cause]) -> set[str]:
    """The API groups whose ProviderConfigs say more about causes."""
    return {api_group(cause.ref.api_version) for cause in causes if _NO_CONFIG.search(cause.sentence)} | {
        match["group"] for cause in causes if (match := _NO_CONFIG.search(cause.sentence))
    }


MANAGED_RULES = (_missing_config, _webhook_down, _namespace_terminating, _creation_pending)

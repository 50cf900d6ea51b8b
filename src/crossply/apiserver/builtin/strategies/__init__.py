"""The strategies of the built-in kinds."""

from __future__ import annotations

import functools

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.served_resources import Resource

__all__ = ["Strategy", "strategy_for"]


def strategy_for(resource: Resource) -> Strategy:
    """The strategy of a resource's kind; the base one for kinds without their own."""
    return _strategy(resource)


@functools.lru_cache(maxsize=256)
def _strategy(resource: Resource) -> Strategy:
    return _strategies().get((resource.group, resource.names.plural), Strategy)(resource)


@functools.cache
def _strategies() -> dict[tuple[str, str], type[Strategy]]:
    from crossply.apiserver.builtin.strategies import (
        admission_policies,
        events,
        jobs,
        networking,
        pods,
        roles,
        secrets,
        services,
        simple_kinds,
        storage,
        webhooks,
        workloads,
    )

    rbac, admission = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
    return {
        ("", "configmaps"): secrets.ConfigMapStrategy,
        ("", "events"): events.EventStrategy,
        ("", "namespaces"): simple_kinds.NamespaceStrategy,
        ("", "nodes"): simple_kinds.NodeStrategy,
        ("", "persistentvolumeclaims"): storage.ClaimStrategy,
        ("", "persistentvolumes"): storage.VolumeStrategy,
        ("", "pods"): pods.PodStrategy,
        ("", "podtemplates"): simple_kinds.PodTemplateStrategy,
        ("", "replicationcontrollers"): workloads.ReplicationControllerStrategy,
        ("", "secrets"): secrets.SecretStrategy,
        ("", "services"): services.ServiceStrategy,
        ("apiextensions.k8s.io", "customresourcedefinitions"): simple_kinds.DefinitionStrategy,
        ("apiregistration.k8s.io", "apiservices"): simple_kinds.APIServiceStrategy,
        ("apps", "daemonsets"): workloads.DaemonSetStrategy,
        ("apps", "deployments"): workloads.DeploymentStrategy,
        ("apps", "replicasets"): workloads.ReplicaSetStrategy,
        ("apps", "statefulsets"): workloads.StatefulSetStrategy,
        ("autoscaling", "horizontalpodautoscalers"): simple_kinds.AutoscalerStrategy,
        ("batch", "cronjobs"): jobs.CronJobStrategy,
        ("batch", "jobs"): jobs.JobStrategy,
        ("coordination.k8s.io", "leases"): simple_kinds.LeaseStrategy,
        ("discovery.k8s.io", "endpointslices"): simple_kinds.EndpointSliceStrategy,
        ("events.k8s.io", "events"): events.EventStrategy,
        ("networking.k8s.io", "ingressclasses"): simple_kinds.IngressClassStrategy,
        ("networking.k8s.io", "ingresses"): networking.IngressStrategy,
        ("networking.k8s.io", "networkpolicies"): networking.NetworkPolicyStrategy,
        ("node.k8s.io", "runtimeclasses"): simple_kinds.RuntimeClassStrategy,
        ("policy", "poddisruptionbudgets"): simple_kinds.BudgetStrategy,
        ("scheduling.k8s.io", "priorityclasses"): simple_kinds.PriorityClassStrategy,
        ("storage.k8s.io", "storageclasses"): storage.StorageClassStrategy,
        (rbac, "clusterrolebindings"): roles.BindingStrategy,
        (rbac, "clusterroles"): roles.RoleStrategy,
        (rbac, "rolebindings"): roles.BindingStrategy,
        (rbac, "roles"): roles.RoleStrategy,
        (admission, "mutatingwebhookconfigurations"): webhooks.WebhookStrategy,
        (admission, "validatingadmissionpolicies"): admission_policies.PolicyStrategy,
        (admission, "validatingadmissionpolicybindings"): admission_policies.PolicyBindingStrategy,
        (admission, "validatingwebhookconfigurations"): webhooks.WebhookStrategy,
    }

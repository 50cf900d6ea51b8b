"""The Composition of a recorded run as users write it: the reverse of `parse_composition`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crossply.kinds.composition import (
    Composition,
    ContainerFunction,
    ExtraResourceRule,
    ResourceRequirement,
    Step,
)
from crossply.kinds.composition_defaults import PIPELINE
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.values import Object


def composition_manifest(composition: Composition) -> Object:
    """The Composition that is parsed to this one; defaults of containers are written out."""
    spec: Object = {
        "compositeTypeRef": {
            "apiVersion": composition.composite.api_version,
            "kind": composition.composite.kind,
        },
        "mode": composition.mode,
    }
    if composition.mode == PIPELINE:
        spec["pipeline"] = [_step(step) for step in composition.steps]
    else:
        spec |= _older_steps(composition.steps)
    spec["writeConnectionSecretsToNamespace"] = composition.connection_secrets_namespace
    spec["reclaimPolicy"] = composition.reclaim_policy
    metadata = {
        "name": composition.name,
        "labels": composition.labels,
        "annotations": composition.annotations,
    }
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": _present(metadata),
        "spec": _without_none(spec),
    }


def _step(step: Step) -> Object:
    requirements = _present(
        {
            "requiredResources": [_resource(resource) for resource in step.required_resources],
            "requiredSchemas": [
                {"requirementName": schema.name, "apiVersion": schema.api_version, "kind": schema.kind}
                for schema in step.required_schemas
            ],
        }
    )
    rules = step.allowed_extra_resources
    ref = step.input_ref
    written: Object = {
        "step": step.name,
        "functionRef": {"name": step.function},
        "functionRevisionRef": None
        if step.function_revision_ref is None
        else {"name": step.function_revision_ref},
        "functionRevisionSelector": _selector(step.function_revision_selector),
        "input": step.input,
        "inputRef": None
        if ref is None
        else _present(
            {"apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name, "namespace": ref.namespace}
        ),
        "credentials": [
            {
                "name": credential.name,
                "source": credential.source,
                "secretRef": {"namespace": credential.secret_namespace, "name": credential.secret_name},
            }
            for credential in step.credentials
        ]
        or None,
        "requirements": requirements or None,
        "maxIterations": step.max_iterations,
        "allowedExtraResources": None if rules is None else [_rule(rule) for rule in rules],
    }
    return _without_none(written)


def _resource(resource: ResourceRequirement) -> Object:
    return _without_none(
        {
            "requirementName": resource.name,
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "namespace": resource.namespace,
            "name": resource.match_name,
            "matchLabels": resource.match_labels,
        }
    )


def _rule(rule: ExtraResourceRule) -> Object:
    return _without_none(
        {
            "apiVersion": rule.api_version,
            "kind": rule.kind,
            "matchName": rule.match_name,
            "matchLabels": rule.match_labels,
        }
    )


def _selector(labels: dict[str, str] | None) -> Object | None:
    return None if labels is None else {"matchLabels": labels}


def _older_steps(steps: Iterable[Step]) -> Object:
    """Resource templates and container functions, the spellings from before pipelines."""
    spec: Object = {}
    functions = []
    for step in steps:
        if step.function == NATIVE_FUNCTION and step.input is not None:
            spec |= {key: step.input[key] for key in _NATIVE if step.input.get(key) is not None}
        elif step.container is not None:
            functions.append(_container(step.name, step.container))
    return {**spec, "functions": functions} if functions else spec


_NATIVE = ("environment", "patchSets", "resources")


def _container(name: str, container: ContainerFunction) -> Object:
    secrets = [{"name": secret.name, "namespace": secret.namespace} for secret in container.pull_secrets]
    return _without_none(
        {
            "name": name,
            "type": "Container",
            "config": container.config,
            "container": _present(
                {
                    "image": container.image,
                    "imagePullPolicy": container.pull_policy,
                    "imagePullSecrets": secrets,
                    "timeout": f"{container.timeout}ns",
                    "network": {"policy": container.network_policy},
                    "resources": {"limits": {"cpu": container.cpu_limit, "memory": container.memory_limit}},
                    "runner": {"endpoint": container.endpoint},
                }
            ),
        }
    )


def _present(fields: dict[str, Any]) -> Object:
    return {key: value for key, value in fields.items() if value not in (None, "", [], {})}


def _without_none(fields: Object) -> Object:
    return {key: value for key, value in fields.items() if value is not None}

"""Which composed resources support tags.

The schema of a kind decides, and the function requires it. Without schemas, as in a render, names decide:
kinds of the large cloud providers support tags, except for those that only connect others.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.messages import Request, Requirements, SchemaSelector
from crossply.values import Object

IGNORE = "tag-manager.fn.crossplane.io/ignore-resource"
"""The annotation or label of resources that are not changed."""

_SCHEMAS = 5
"""The capability of engines that send schemas."""

_PROVIDERS = ("aws.upbound.io", "aws.m.upbound.io", "azure.upbound.io", "azure.m.upbound.io")
"""The API groups of providers, which are also the suffixes of the groups of their services."""

_SERVICES = tuple(f".{group}" for group in _PROVIDERS)
_ENDINGS_WITHOUT_TAGS = (
    "Assignment",
    "Association",
    "Attachment",
    "Auth",
    "Configuration",
    "Controls",
    "Encryption",
    "Lock",
    "Membership",
    "Notification",
    "Peering",
    "Permission",
    "Policy",
    "Record",
    "Route",
    "Rule",
    "Settings",
    "Subscription",
    "Validation",
    "Versioning",
)
_KINDS_WITHOUT_TAGS = frozenset(
    (
        "cloudwatchlogs/Stream",
        "dbforpostgresql/FlexibleServerDatabase",
        "iam/Group",
        "kms/Alias",
        "lambda/Alias",
        "network/Subnet",
        "s3/BucketACL",
        "s3/BucketPublicAccessBlock",
        "storage/Blob",
        "storage/Container",
    )
)
_KINDS_WITH_TAGS = frozenset(
    (
        "appmesh/GatewayRoute",
        "appmesh/Route",
        "apprunner/ObservabilityConfiguration",
        "azure/ResourceGroup",
        "azure/Subscription",
        "ec2/SecurityGroupEgressRule",
        "ec2/SecurityGroupIngressRule",
        "ec2/VPCPeeringConnection",
        "elbv2/LBListenerRule",
        "iam/Policy",
    )
)


def is_ignored(obj: Object) -> bool:
    """Whether a resource must not be changed; the annotation overrides the label."""
    metadata = _object(obj.get("metadata"))
    for path in ("annotations", "labels"):
        value = _object(metadata.get(path)).get(IGNORE)
        if isinstance(value, str):
            return value.lower() == "true"
    return False


def has_tags(obj: Object, request: Request) -> bool:
    schema = request.required_schemas.get(_schema_name(obj))
    if schema:
        return "tags" in _properties(_properties(_properties(schema).get("spec")).get("forProvider"))
    return _is_taggable_kind(obj)


def required_schemas(request: Request) -> Requirements | None:
    """Requirements for the schemas of desired managed resources, if the engine sends schemas."""
    if _SCHEMAS not in request.capabilities:
        return None
    schemas = {}
    for resource in request.desired.resources.values():
        obj = resource.object
        if "forProvider" in _object(obj.get("spec")) and _schema_name(obj):
            schemas[_schema_name(obj)] = SchemaSelector(obj["apiVersion"], obj["kind"])
    return Requirements(schemas=schemas) if schemas else None


def _schema_name(obj: Object) -> str:
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    return f"{api_version}/{kind}" if isinstance(api_version, str) and isinstance(kind, str) else ""


def _is_taggable_kind(obj: Object) -> bool:
    group, _, _ = str(obj.get("apiVersion")).partition("/")
    kind = str(obj.get("kind"))
    if group not in _PROVIDERS and not group.endswith(_SERVICES):
        return False
    short = f"{group.partition('.')[0]}/{kind}"
    if group in _PROVIDERS or short in _KINDS_WITH_TAGS:
        return short in _KINDS_WITH_TAGS
    return short not in _KINDS_WITHOUT_TAGS and not kind.endswith(_ENDINGS_WITHOUT_TAGS)


def _properties(schema: Any) -> Object:
    return _object(_object(schema).get("properties"))


def _object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}

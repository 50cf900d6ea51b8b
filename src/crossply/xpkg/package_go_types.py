"""The kinds a package may be made of, as Go structs: what of an object gets into it, and what is an error.

Crossplane decodes every object of a package into its Go type and writes that, so unknown fields disappear and
some empty ones appear. Fields of Compositions that only Crossply and older versions of Crossplane know are
kept.
"""

from __future__ import annotations

from functools import cache

from crossply.kinds.gostructs import GoType
from crossply.values.api_version import split_api_version
from crossply.xpkg.go_struct_declaration_parser import declare

_METADATA = """
ObjectMeta: name?string generateName?string namespace?string selfLink?string uid?types.UID$ \
resourceVersion?string generation?int64 creationTimestamp*raw deletionTimestamp*raw \
deletionGracePeriodSeconds*int64 labels?map[]string annotations?map[]string \
ownerReferences?[]raw finalizers?[]string managedFields?[]raw
LabelSelectorRequirement: key:string operator:v1.LabelSelectorOperator$ values?[]string
LabelSelector: matchLabels?map[]string matchExpressions?[]LabelSelectorRequirement
"""

_HEAD = "apiVersion?string kind?string metadata:ObjectMeta"

_META = f"""
CrossplaneConstraints: version:string
Dependency: apiVersion*string kind*string package*string provider*string configuration*string \
function*string version:string
ConfigurationSpec: crossplane*CrossplaneConstraints dependsOn?[]Dependency capabilities?[]string
ProviderSpec: crossplane*CrossplaneConstraints dependsOn?[]Dependency capabilities?[]string
FunctionSpec: crossplane*CrossplaneConstraints dependsOn?[]Dependency capabilities?[]string IMAGE
Configuration: {_HEAD} spec:ConfigurationSpec
Provider: {_HEAD} spec:ProviderSpec
Function: {_HEAD} spec:FunctionSpec
"""

_CRD_PARTS = """
CustomResourceDefinitionNames: plural:string singular?string shortNames?[]string kind:string \
listKind?string categories?[]string
CustomResourceColumnDefinition: name:string type:string format?string description?string \
priority?int32 jsonPath:string
ServiceReference: namespace:string name:string path*string port*int32
WebhookClientConfig: url*string service*ServiceReference caBundle?[]uint8$
WebhookConversion: clientConfig*WebhookClientConfig conversionReviewVersions:[]string
CustomResourceConversion: strategy:v1.ConversionStrategyType$ webhook*WebhookConversion
CustomResourceSubresourceStatus:
CustomResourceSubresourceScale: specReplicasPath:string statusReplicasPath:string labelSelectorPath*string
CustomResourceSubresources: status*CustomResourceSubresourceStatus scale*CustomResourceSubresourceScale
SelectableField: jsonPath:string
"""

_CRD = f"""
CustomResourceValidation: openAPIV3Schema*JSONSchemaProps
CustomResourceDefinitionVersion: name:string served:bool storage:bool deprecated?bool \
deprecationWarning*string schema*CustomResourceValidation subresources*CustomResourceSubresources \
additionalPrinterColumns?[]CustomResourceColumnDefinition selectableFields?[]SelectableField
CustomResourceDefinitionSpec: group:string names:CustomResourceDefinitionNames \
scope:v1.ResourceScope$ versions:[]CustomResourceDefinitionVersion \
conversion*CustomResourceConversion preserveUnknownFields?bool
CustomResourceDefinitionStatus: conditions:[]raw acceptedNames:CustomResourceDefinitionNames \
storedVersions:[]string observedGeneration?int64
CustomResourceDefinition: {_HEAD} spec:CustomResourceDefinitionSpec status:CustomResourceDefinitionStatus
"""

_XRD = f"""
CompositeResourceValidation: openAPIV3Schema?raw
CompositeResourceDefinitionVersionSubresources: scale*CustomResourceSubresourceScale
CompositeResourceDefinitionVersion: name:string referenceable:bool served:bool deprecated*bool \
deprecationWarning*string schema*CompositeResourceValidation \
additionalPrinterColumns?[]CustomResourceColumnDefinition \
subresources*CompositeResourceDefinitionVersionSubresources
CompositionReference: name:string
CompositeResourceDefinitionSpecMetadata: labels?map[]string annotations?map[]string
CompositeResourceDefinitionSpec: group:string names:CustomResourceDefinitionNames \
scope*PACKAGE.CompositeResourceScope$ claimNames*CustomResourceDefinitionNames \
connectionSecretKeys?[]string defaultCompositeDeletePolicy*v1.CompositeDeletePolicy$ \
defaultCompositionRef*CompositionReference defaultCompositionRevisionSelector*LabelSelector \
defaultCompositionUpdatePolicy*PACKAGE.UpdatePolicy$ enforcedCompositionRef*CompositionReference \
versions:[]CompositeResourceDefinitionVersion conversion*CustomResourceConversion \
metadata*CompositeResourceDefinitionSpecMetadata serviceAccountRef*raw
TypeReference: apiVersion:string kind:string
CompositeResourceDefinitionControllerStatus: compositeResourceType:TypeReference \
compositeResourceClaimType:TypeReference
CompositeResourceDefinitionStatus: conditions?[]raw controllers:CompositeResourceDefinitionControllerStatus
CompositeResourceDefinition: {_HEAD} spec:CompositeResourceDefinitionSpec \
status:CompositeResourceDefinitionStatus
"""

_PIPELINE = """
FunctionReference: name:string
SecretReference: name:string namespace:string
FunctionCredentials: name:string source:PACKAGE.FunctionCredentialsSource$ secretRef*SecretReference
RequiredResourceSelector: requirementName:string apiVersion:string kind:string namespace*string \
name*string matchLabels?map[]string
RequiredSchemaSelector: requirementName:string apiVersion:string kind:string
FunctionRequirements: requiredResources?[]RequiredResourceSelector requiredSchemas?[]RequiredSchemaSelector
FunctionRevisionReference: name:string
PipelineStep: step:string functionRef:FunctionReference input*raw credentials?[]FunctionCredentials \
requirements*FunctionRequirements functionRevisionRef*FunctionRevisionReference \
functionRevisionSelector*LabelSelector inputRef*raw maxIterations*int64 allowedExtraResources*[]raw
"""

_COMPOSITION = f"""
TypeReference: apiVersion:string kind:string
CompositionSpec: compositeTypeRef:TypeReference mode:v1.CompositionMode$ pipeline?[]PipelineStep \
writeConnectionSecretsToNamespace*string publishConnectionDetailsWithStoreConfigRef*raw \
patchSets?[]raw resources?[]raw environment*raw functions?[]raw from*raw to?[]raw reclaimPolicy*string
Composition: {_HEAD} spec:CompositionSpec
CompositionRevision: {_HEAD} spec*raw status*raw
"""

_OPERATIONS = f"""
OperationSpec: mode:v1alpha1.OperationMode$ pipeline:[]PipelineStep retryLimit*int64
OperationStatus: conditions?[]raw failures?int64 pipeline?[]raw appliedResourceRefs?[]raw
Operation: {_HEAD} spec:OperationSpec status:OperationStatus
OperationTemplate: metadata:ObjectMeta spec:OperationSpec
CronOperationSpec: schedule:string startingDeadlineSeconds*int64 suspend*bool \
concurrencyPolicy*v1alpha1.ConcurrencyPolicy$ successfulHistoryLimit*int32 failedHistoryLimit*int32 \
operationTemplate:OperationTemplate
CronOperationStatus: conditions?[]raw runningOperationRefs?[]raw lastScheduleTime*raw lastSuccessfulTime*raw
CronOperation: {_HEAD} spec:CronOperationSpec status:CronOperationStatus
WatchSpec: apiVersion:string kind:string matchLabels?map[]string namespace?string
WatchOperationSpec: watch:WatchSpec concurrencyPolicy*v1alpha1.ConcurrencyPolicy$ \
successfulHistoryLimit*int32 failedHistoryLimit*int32 operationTemplate:OperationTemplate
WatchOperationStatus: conditions?[]raw runningOperationRefs?[]raw watchingResources?int64 \
lastScheduleTime*raw lastSuccessfulTime*raw
WatchOperation: {_HEAD} spec:WatchOperationSpec status:WatchOperationStatus
"""

_MANAGED = f"""
ConnectionDetail: name:string description:string
CustomResourceValidation: openAPIV3Schema?raw
CustomResourceDefinitionVersion: name:string served:bool storage:bool deprecated?bool \
deprecationWarning*string schema*CustomResourceValidation subresources*CustomResourceSubresources \
additionalPrinterColumns?[]CustomResourceColumnDefinition selectableFields?[]SelectableField
ManagedResourceDefinitionSpec: connectionDetails?[]ConnectionDetail \
state?v1alpha1.ManagedResourceDefinitionState$ group:string names:CustomResourceDefinitionNames \
scope:v1.ResourceScope$ versions:[]CustomResourceDefinitionVersion \
conversion*CustomResourceConversion preserveUnknownFields?bool
ManagedResourceDefinitionStatus: conditions?[]raw
ManagedResourceDefinition: {_HEAD} spec:ManagedResourceDefinitionSpec status:ManagedResourceDefinitionStatus
ManagedResourceActivationPolicySpec: activate:[]v1alpha1.ActivationPolicy$
ManagedResourceActivationPolicyStatus: conditions?[]raw activated?[]string
ManagedResourceActivationPolicy: {_HEAD} spec:ManagedResourceActivationPolicySpec \
status:ManagedResourceActivationPolicyStatus
"""

_WEBHOOK_FIELDS = """name:string clientConfig:WebhookClientConfig rules?[]RuleWithOperations \
failurePolicy*v1.FailurePolicyType$ matchPolicy*v1.MatchPolicyType$ namespaceSelector*LabelSelector \
objectSelector*LabelSelector sideEffects^v1.SideEffectClass$ timeoutSeconds*int32 \
admissionReviewVersions:[]string matchConditions?[]MatchCondition"""

_WEBHOOKS = f"""
RuleWithOperations: operations?[]v1.OperationType$ apiGroups?[]string apiVersions?[]string \
resources?[]string scope*v1.ScopeType$
MatchCondition: name:string expression:string
ValidatingWebhook: {_WEBHOOK_FIELDS}
MutatingWebhook: {_WEBHOOK_FIELDS} reinvocationPolicy*v1.ReinvocationPolicyType$
ValidatingWebhookConfiguration: {_HEAD} webhooks?[]ValidatingWebhook
MutatingWebhookConfiguration: {_HEAD} webhooks?[]MutatingWebhook
ValidatingAdmissionPolicy: {_HEAD} spec*raw status*raw
ValidatingAdmissionPolicyBinding: {_HEAD} spec*raw
"""

_OLD_CRD = f"""
CustomResourceDefinition: {_HEAD} spec:map[]raw status*raw
"""

_OBJECTS = {
    "apiextensions.crossplane.io/v1": ("CompositeResourceDefinition", "Composition", "CompositionRevision"),
    "apiextensions.crossplane.io/v2": ("CompositeResourceDefinition",),
    "apiextensions.crossplane.io/v1alpha1": (
        "ManagedResourceDefinition",
        "ManagedResourceActivationPolicy",
        "Composition",
    ),
    "apiextensions.crossplane.io/v2alpha1": ("Composition",),
    "apiextensions.k8s.io/v1": ("CustomResourceDefinition",),
    "apiextensions.k8s.io/v1beta1": ("CustomResourceDefinition",),
    "admissionregistration.k8s.io/v1": (
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ),
    "ops.crossplane.io/v1alpha1": ("Operation", "CronOperation", "WatchOperation"),
}
META_GROUP = "meta.pkg.crossplane.io"
_METAS = {
    f"{META_GROUP}/v1": ("Configuration", "Provider", "Function"),
    f"{META_GROUP}/v1beta1": ("Function",),
    f"{META_GROUP}/v1alpha1": ("Configuration", "Provider", "Function"),
}


def meta_type(api_version: str, kind: str) -> GoType | None:
    """The type of an object that describes a package, or None where it is no such object."""
    return _types(api_version)[kind] if kind in _METAS.get(api_version, ()) else None


def object_type(api_version: str, kind: str) -> GoType | None:
    """The type of an object that a package may hold, or None where it is not known."""
    return _types(api_version)[kind] if kind in _OBJECTS.get(api_version, ()) else None


@cache
def _types(api_version: str) -> dict[str, GoType]:
    group, version = split_api_version(api_version)
    metadata = declare(_METADATA, "v1")
    if group == META_GROUP:
        image = "image*string" if version == "v1beta1" else ""
        return declare(_META.replace("IMAGE", image), version, metadata)
    if group == "apiextensions.k8s.io":
        return _crd_types(version, metadata)
    if group == "ops.crossplane.io":
        known = declare(_PIPELINE.replace("PACKAGE", version), version, metadata)
        return declare(_OPERATIONS, version, known)
    parts = declare(_CRD_PARTS, "v1", metadata)
    if group == "admissionregistration.k8s.io":
        return declare(_WEBHOOKS, version, parts)
    definitions = declare(
        _MANAGED if version == "v1alpha1" else _XRD.replace("PACKAGE", version), version, parts
    )
    pipeline = declare(_PIPELINE.replace("PACKAGE", version), version, definitions)
    return declare(_COMPOSITION, version, pipeline)


def _crd_types(version: str, metadata: dict[str, GoType]) -> dict[str, GoType]:
    from crossply.schema.json_schema_props import PROPS

    if version != "v1":
        return declare(_OLD_CRD, version, metadata)
    return declare(_CRD, version, {**declare(_CRD_PARTS, "v1", metadata), "JSONSchemaProps": PROPS})

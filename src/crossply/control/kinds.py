"""The kinds the control plane works with."""

from __future__ import annotations

from crossply.kube.kind import Kind

_EXTENSIONS = "apiextensions.crossplane.io"
_PACKAGES = "pkg.crossplane.io"
_OPERATIONS = "ops.crossplane.io"

DEFINITION = Kind(_EXTENSIONS, "v1", "CompositeResourceDefinition", "compositeresourcedefinitions", False)
INFRASTRUCTURE_DEFINITION = Kind(
    _EXTENSIONS, "v1alpha1", "InfrastructureDefinition", "infrastructuredefinitions", False
)
APPLICATION_DEFINITION = Kind(
    _EXTENSIONS, "v1alpha1", "ApplicationDefinition", "applicationdefinitions", False
)
PUBLICATION = Kind(_EXTENSIONS, "v1alpha1", "InfrastructurePublication", "infrastructurepublications", False)
COMPOSITION = Kind(_EXTENSIONS, "v1", "Composition", "compositions", False)
REVISION = Kind(_EXTENSIONS, "v1", "CompositionRevision", "compositionrevisions", False)
MANAGED_DEFINITION = Kind(
    _EXTENSIONS, "v1alpha1", "ManagedResourceDefinition", "managedresourcedefinitions", False
)
ACTIVATION_POLICY = Kind(
    _EXTENSIONS, "v1alpha1", "ManagedResourceActivationPolicy", "managedresourceactivationpolicies", False
)
FUNCTION = Kind(_PACKAGES, "v1", "Function", "functions", False)
CONFIGURATION = Kind(_PACKAGES, "v1", "Configuration", "configurations", False)
PROVIDER = Kind(_PACKAGES, "v1", "Provider", "providers", False)
FUNCTION_REVISION = Kind(_PACKAGES, "v1", "FunctionRevision", "functionrevisions", False)
CONFIGURATION_REVISION = Kind(_PACKAGES, "v1", "ConfigurationRevision", "configurationrevisions", False)
PROVIDER_REVISION = Kind(_PACKAGES, "v1", "ProviderRevision", "providerrevisions", False)
LOCK = Kind(_PACKAGES, "v1beta1", "Lock", "locks", False)
IMAGE_CONFIG = Kind(_PACKAGES, "v1beta1", "ImageConfig", "imageconfigs", False)
RUNTIME_CONFIG = Kind(_PACKAGES, "v1beta1", "DeploymentRuntimeConfig", "deploymentruntimeconfigs", False)
OPERATION = Kind(_OPERATIONS, "v1alpha1", "Operation", "operations", False)
CRON_OPERATION = Kind(_OPERATIONS, "v1alpha1", "CronOperation", "cronoperations", False)
WATCH_OPERATION = Kind(_OPERATIONS, "v1alpha1", "WatchOperation", "watchoperations", False)

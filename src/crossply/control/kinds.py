"""The kinds the control plane works with."""

from __future__ import annotations

from crossply.kube.kind import Kind

_EXTENSIONS = "apiextensions.crossplane.io"

DEFINITION = Kind(_EXTENSIONS, "v1", "CompositeResourceDefinition", "compositeresourcedefinitions", False)
COMPOSITION = Kind(_EXTENSIONS, "v1", "Composition", "compositions", False)
REVISION = Kind(_EXTENSIONS, "v1", "CompositionRevision", "compositionrevisions", False)
FUNCTION = Kind("pkg.crossplane.io", "v1", "Function", "functions", False)
CRD = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", False)
SECRET = Kind("", "v1", "Secret", "secrets", True)
EVENT = Kind("", "v1", "Event", "events", True)

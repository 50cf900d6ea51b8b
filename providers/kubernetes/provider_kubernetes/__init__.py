"""A provider of Kubernetes objects, compatible with the published provider-kubernetes."""

"""CustomResourceDefinitions (apiextensions.k8s.io).

A definition is defaulted (`crd_defaults`), validated (`crd_validation` and the other `*_validation` modules),
turned into a resource that the server serves (`crd_resource`), and reconciled while it exists
(`crd_controller`): names, conditions, and the deletion of its instances. `webhook_converter` converts objects
between versions.
"""

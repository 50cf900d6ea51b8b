"""The control plane: controllers that make definitions, compositions and composite resources real.

Each controller follows what it is about through watch caches, keeps a queue of names, and reconciles one name
at a time. They talk to the API over HTTP only, whether it is the embedded server or any Kubernetes.
"""

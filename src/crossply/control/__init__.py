"""The control plane: controllers that make definitions, compositions and composite resources real.

Each controller is declared by what it reconciles and watches (`kube.controller`), and reconciles one object
at a time. Controllers talk to the API over HTTP only, whether it is the embedded server or any Kubernetes.
"""

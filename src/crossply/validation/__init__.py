"""Validation of resources without a cluster, against CRDs, XRDs and the CRDs of packages."""

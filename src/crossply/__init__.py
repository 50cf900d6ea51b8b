"""A composition engine and control plane, compatible with Crossplane."""

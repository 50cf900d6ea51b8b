"""The one place that knows versions: ours, and that of the Crossplane we are compatible with."""

__version__ = "0.2.0"

COMPATIBLE_CROSSPLANE = "v2.3.0"
"""The version of Crossplane that packages find, as far as they ask for one."""

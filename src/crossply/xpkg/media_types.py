"""The media types of images, and what of them marks a package."""

from __future__ import annotations

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_CONFIG = "application/vnd.oci.image.config.v1+json"
OCI_LAYER_GZIP = "application/vnd.oci.image.layer.v1.tar+gzip"
OCI_LAYER_ZSTD = "application/vnd.oci.image.layer.v1.tar+zstd"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_INDEX = "application/vnd.docker.distribution.manifest.list.v2+json"

MANIFESTS = (OCI_MANIFEST, DOCKER_MANIFEST)
INDEXES = (OCI_INDEX, DOCKER_INDEX)
ACCEPTED = (*MANIFESTS, *INDEXES)

ANNOTATION = "io.crossplane.xpkg"
"""The annotation of a layer that says what it holds; also the beginning of a label for the same."""
BASE = "base"
"""The layer with the package's stream."""
EXAMPLES = "upbound"
"""The layer with the package's examples."""
STREAM_FILE = "package.yaml"
EXAMPLES_FILE = ".up/examples.yaml"

MAX_STREAM = 200 << 20
"""The size of the largest stream of a package."""
MAX_RATIO = 200
"""How many times its layer a stream may be: YAML shrinks to a thirtieth, a bomb to a thousandth."""
ANY_RATIO = 16 << 20
"""A stream up to this size may be compressed as much as it likes."""
MAX_OBJECT = 8 << 20
"""The size of the largest object in it; no API server takes as much."""
MAX_MANIFEST = 4 << 20
MAX_CONFIG = 8 << 20
MAX_LAYERS = 1000

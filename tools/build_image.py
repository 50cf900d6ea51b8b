"""Build the image of the controllers, the dashboard and the functions, without a container engine.

    python tools/build_image.py [--base PATH] [--architecture amd64 ...] [--output DIRECTORY]

Writes for each architecture crossply-VERSION-image-ARCHITECTURE.tar, which `crossply xpkg push`, skopeo,
podman and docker take, and a software bill of materials, and prints the digest. The base is Python on the
packages of Debian in deploy/base-packages.json, or an image in a file, an OCI layout or a root file system.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from distribution.base_image import machine_architecture
from distribution.crossply_image import BuiltImage, build, debian_base, other_base
from distribution.oci_archive import write_oci_archive
from distribution.paths import DIST, ROOT
from distribution.source_date import source_date
from distribution.wheels import build_wheels

from crossply.version import __version__
from crossply.xpkg.image import encode, encode_index


def main(words: list[str]) -> int:
    """Build and write; the exit status."""
    options = _parser().parse_args(words)
    os.makedirs(options.output, exist_ok=True)
    built = [_build(architecture, options.base) for architecture in options.architecture]
    for image in built:
        _write(image, options.output)
    if len(built) > 1:
        encoded = [(image.image, encode(image.image)) for image in built]
        print(f"index of all: {encode_index(encoded, {}).digest}")
    return 0


def _write(built: BuiltImage, directory: str) -> None:
    """Write an image and its bill of materials, and say how large it is."""
    image, architecture = built.image, built.image.config["architecture"]
    with open(os.path.join(directory, f"crossply-{__version__}-{architecture}.cdx.json"), "wb") as file:
        file.write(built.bill)
    path = os.path.join(directory, f"crossply-{__version__}-image-{architecture}.tar")
    digest = write_oci_archive(image, "crossply", __version__, path)
    size = sum(layer.blob.size for layer in image.layers) / 1e6
    print(f"{os.path.basename(path)}: {size:.1f} MB in {len(image.layers)} layers, {digest}")


def _build(architecture: str, base: str | None) -> BuiltImage:
    date = source_date()
    chosen = other_base(base, architecture) if base else debian_base(architecture)
    with tempfile.TemporaryDirectory(prefix="crossply-wheel-") as scratch:
        wheel, _ = build_wheels(scratch, date)
        return build(chosen, wheel, date, _revision())


def _revision() -> str:
    done = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Build the image of Crossply.")
    parser.add_argument("--base", help="an image in a file, an OCI layout or a root file system")
    parser.add_argument("--output", default=DIST, help="the directory to write to (default dist)")
    parser.add_argument(
        "--architecture", nargs="+", default=[machine_architecture()], choices=("amd64", "arm64")
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

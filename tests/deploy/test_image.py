"""The Containerfile, as far as it can be checked without a registry to get its base from."""

from __future__ import annotations

import importlib.metadata
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text()


def needed_by(package):
    """The packages that a package needs to run here, itself included."""
    names, left = set(), [package]
    while left:
        name = left.pop()
        if name not in names:
            names.add(name)
            requirements = importlib.metadata.requires(name) or ()
            left += [
                re.match(r"[\w.-]+", requirement)[0].lower()
                for requirement in requirements
                if ";" not in requirement
            ]
    return names


def test_what_builds_the_product_is_pinned_and_complete():
    picked = set(re.search(r"/\^\(([a-z|-]+)\)==/", CONTAINERFILE)[1].split("|"))
    assert picked == needed_by("hatchling")
    pinned = re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / "dev.txt").read_text(), re.M)
    assert picked <= set(pinned)


def test_everything_that_is_copied_is_there_and_let_through():
    patterns = (ROOT / "deploy" / "Containerfile.dockerignore").read_text().split()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINERFILE, re.M)
    for source in " ".join(copied).split():
        assert (ROOT / source).exists()
        assert f"!{source.partition('/')[0]}" in patterns


def test_the_image_is_not_run_by_root_and_begins_with_the_controllers():
    assert re.search(r"^USER 65532:65532$", CONTAINERFILE, re.M)
    assert CONTAINERFILE.endswith('ENTRYPOINT ["crossply"]\nCMD ["controller"]\n')

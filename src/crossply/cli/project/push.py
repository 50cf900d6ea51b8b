"""`crossply project push`: push all packages of a project to their registry."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.failure_reports import step_output
from crossply.cli.project.build import (
    CONFIGURATION_TAG,
    REPOSITORY,
    ProjectBuildError,
    chosen_project,
)
from crossply.cli.project.flags import PROJECT_FILE_FLAG
from crossply.cli.xpkg.local_images import ENDING
from crossply.project.folder import ProjectFolder
from crossply.values.goquote import quote
from crossply.xpkg.user_image_pull import error_prefix

if TYPE_CHECKING:
    from crossply.xpkg.image import Image
    from crossply.xpkg.image_reference import Reference
    from crossply.xpkg.registry_session import Registries


def run(invocation: Invocation) -> int:
    """Push the packages: the functions, then the Configuration that depends on them."""
    import asyncio

    folder = chosen_project(invocation)
    reference = _target(folder, invocation["tag"] or f"v0.0.0-{int(time.time())}")
    path = _package_file(invocation, folder)
    with step_output(f"Loading packages from {path}", invocation.stderr.write):
        configuration, functions = _sorted(_load(path), folder.project.repository)
    asyncio.run(_push(invocation, reference, configuration, functions))
    invocation.stdout.write(f"Pushed project {quote(folder.project.name)} to {reference}\n")
    return 0


def _target(folder: ProjectFolder, tag: str) -> Reference:
    from crossply.xpkg.image_reference import parse_tag

    with error_prefix("failed to construct image tag"):
        return parse_tag(f"{folder.project.repository}:{tag}", strict=True)


def _package_file(invocation: Invocation, folder: ProjectFolder) -> str:
    """The file that is named, or the one that was built: in the project, or where we are."""
    if invocation["package-file"]:
        return str(invocation["package-file"])
    built = os.path.join(invocation["output-dir"], f"{folder.project.name}{ENDING}")
    in_project = os.path.join(folder.root, built)
    return in_project if os.path.exists(in_project) or not os.path.exists(built) else built


def _load(path: str) -> dict[str, Image]:
    from crossply.xpkg.archive_reader import read_tagged

    with error_prefix("failed to read package file manifest"):
        try:
            return read_tagged(path)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise ProjectBuildError(
                f"open {path}: {reason}",
                hint="build it with: crossply project build, or name the file with --package-file",
            ) from None


def _sorted(images: dict[str, Image], repository: str) -> tuple[Image, dict[str, list[Image]]]:
    """The Configuration, and the images of each function by its repository."""
    from crossply.xpkg.image import digest
    from crossply.xpkg.image_reference import full_repository, parse_tag

    own = full_repository(repository)
    functions: dict[str, list[Image]] = {}
    configuration = None
    for name, image in images.items():
        with error_prefix(f"failed to parse image tag {quote(name)}"):
            reference = parse_tag(name)
        if reference.name == own and reference.tag == CONFIGURATION_TAG:
            configuration = image
        else:
            functions.setdefault(reference.name, []).append(image)
    if configuration is None:
        raise ProjectBuildError(
            "failed to find configuration image",
            hint=f"the file has no package for {own}; build and push with the same --repository",
        )
    return configuration, {name: sorted(images, key=digest) for name, images in sorted(functions.items())}


async def _push(
    invocation: Invocation, reference: Reference, configuration: Image, functions: dict[str, list[Image]]
) -> None:
    import asyncio

    from crossply.xpkg.image_push import push_image
    from crossply.xpkg.user_image_pull import session

    room = asyncio.Semaphore(max(1, invocation["max-concurrency"]))
    say, label = invocation.stderr.write, f"pushing {reference.repository}"

    async def push_one(name: str, images: list[Image]) -> None:
        async with room:
            with (
                step_output(f"Pushing function package {name}", say),
                error_prefix(f"failed to push function {quote(name)}"),
            ):
                await _push_function(registries, name, images, reference.tag)

    async with session(invocation, label, invocation["insecure-skip-tls-verify"]) as registries:
        outcomes = await asyncio.gather(
            *(push_one(name, images) for name, images in functions.items()), return_exceptions=True
        )
        for problem in outcomes:
            if problem is not None:
                raise problem
        step = step_output(f"Pushing configuration image {reference}", say)
        with step, error_prefix("failed to push configuration package"):
            await push_image(registries, configuration, reference)


async def _push_function(registries: Registries, name: str, images: list[Image], tag: str) -> None:
    """Push an index also of a single image: it is by that digest that the Configuration depends on it."""
    from crossply.xpkg.image_push import push_images
    from crossply.xpkg.image_reference import parse_tag

    await push_images(registries, images, parse_tag(f"{name}:{tag}"), {})


COMMAND = Command(
    "push",
    "Push all packages of a project to their registry.",
    run,
    flags=(
        PROJECT_FILE_FLAG,
        REPOSITORY,
        Flag(
            "tag",
            "Tag for the pushed package. Defaults to a time-based semver-like tag.",
            short="t",
            kind="string",
            default="",
        ),
        Flag(
            "package-file",
            "Package file to push. Defaults to <output-dir>/<project-name>.xpkg.",
            kind="string",
        ),
        Flag(
            "output-dir", "Directory containing built packages.", short="o", kind="string", default="_output"
        ),
        Flag("max-concurrency", "Max concurrent function pushes.", kind="int", default="8"),
        Flag("insecure-skip-tls-verify", "[INSECURE] Skip verifying TLS certificates."),
    ),
    description=(
        "Pushes what `crossply project build` wrote: the Functions, each to <repository>_<function>, then\n"
        "the Configuration to <repository>, all with one tag. The login for the registry is that of docker,\n"
        "a credential helper or podman."
    ),
    examples=("crossply project push --tag=v0.1.0", "crossply project push"),
)

"""`crossply project build`: build all packages of a project into one file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.failure_reports import step_output
from crossply.cli.project.flags import PROJECT_FILE_FLAG
from crossply.cli.xpkg.local_images import ENDING
from crossply.errors import CrossplyError
from crossply.manifests.file_io import in_go_words, make_directory
from crossply.project import file_in
from crossply.project.folder import ProjectFolder, open_project
from crossply.values.goquote import quote
from crossply.xpkg.user_image_pull import error_prefix

if TYPE_CHECKING:
    from crossply.xpkg.image import Image
    from crossply.xpkg.project_functions import FunctionSource

CONFIGURATION_TAG = "configuration"
REPOSITORY = Flag("repository", "Override the repository in the project file.", kind="string")


class ProjectBuildError(CrossplyError):
    """The packages of a project could not be built, written or found."""

    code = "CP-588"


def run(invocation: Invocation) -> int:
    """Build the packages and write them."""
    import tempfile

    folder = chosen_project(invocation)
    with tempfile.TemporaryDirectory(prefix="crossply-") as directory:
        images = _Build(invocation, folder, directory).images()
        path = os.path.join(invocation["output-dir"], f"{folder.project.name}{ENDING}")
        with step_output("Writing packages to disk", invocation.stderr.write):
            _write(images, path)
    invocation.stdout.write(f"Built project {quote(folder.project.name)} to {path}\n")
    return 0


def chosen_project(invocation: Invocation) -> ProjectFolder:
    """The project that the flags name, in the repository that they name."""
    from crossply.xpkg.image_reference import full_repository

    file = invocation["project-file"] or os.path.normpath(file_in(os.curdir))
    with error_prefix(f"failed to parse project file {quote(file)}"):
        folder = open_project(file)
    if not invocation["repository"]:
        return folder
    with error_prefix("failed to parse repository"):
        repository = full_repository(invocation["repository"])
    return folder._replace(project=folder.project._replace(repository=repository))


def _write(images: dict[str, Image], path: str) -> None:
    from crossply.xpkg.archive_writer import write_tagged

    directory = os.path.dirname(path) or os.curdir
    make_directory(directory, f"failed to create output directory {quote(directory)}")
    try:
        write_tagged(images, path)
    except OSError as problem:
        cause = in_go_words("open", path, problem)
        raise ProjectBuildError(f"failed to create output file {quote(path)}: {cause}") from None


class _Build:
    """One build; fetched images are in a temporary directory."""

    def __init__(self, invocation: Invocation, folder: ProjectFolder, directory: str) -> None:
        self._invocation = invocation
        self._say = invocation.stderr.write
        self._folder = folder
        self._root = folder.root
        self._project = folder.project
        self._directory = directory

    def images(self) -> dict[str, Image]:
        """All images by their names: the Configuration, and each function for each architecture."""
        from crossply.xpkg.project_configuration import build_configuration, collect

        name = self._tag(self._project.repository, CONFIGURATION_TAG)
        with step_output("Collecting resources", self._say):
            collected = collect(self._project, self._root)
        functions, digests = self._functions()
        with (
            step_output("Building configuration package", self._say),
            error_prefix("failed to build package"),
        ):
            functions[name] = build_configuration(self._project, self._root, collected, digests)
        return functions

    def _functions(self) -> tuple[dict[str, Image], list[tuple[str, str]]]:
        """The images of the functions by their names, and the digest of each function."""
        from concurrent.futures import ThreadPoolExecutor

        from crossply.xpkg.project_functions import index_digest

        sources = self._sources()
        bases = {base: self._bases(base) for base in sorted({source.base for source in sources} - {""})}
        with ThreadPoolExecutor(max(1, self._invocation["max-concurrency"])) as pool:
            built = list(pool.map(lambda source: self._function(source, bases), sources))
        images: dict[str, Image] = {}
        for source, platforms in zip(sources, built, strict=True):
            repository = self._project.function_repository(source.name)
            images |= {self._tag(repository, image.platform["architecture"]): image for image in platforms}
        return images, [
            (source.name, index_digest(platforms)) for source, platforms in zip(sources, built, strict=True)
        ]

    def _sources(self) -> list[FunctionSource]:
        """The sources of all functions, checked before the first is built."""
        from crossply.project.function_manifests import refresh_models
        from crossply.xpkg.project_functions import find_source, functions_of

        sources = []
        for function in functions_of(self._project, self._root):
            with error_prefix(f"failed to build function {quote(function.name)}"):
                self._tag(self._project.function_repository(function.name), CONFIGURATION_TAG)
                sources.append(find_source(self._project, self._root, function))
        refresh_models(self._folder, sources)
        return [self._complete(source) for source in sources]

    def _complete(self, source: FunctionSource) -> FunctionSource:
        """The source with all that it imports of the project."""
        from crossply.project import kcl_bundle, python_bundle
        from crossply.xpkg.project_functions import KCL, PYTHON

        target = os.path.join(self._directory, "complete", source.name)
        with error_prefix(f"failed to build function {quote(source.name)}"):
            if source.language == KCL:
                kcl_bundle.write_bundle(source.path, self._root, target)
                return source._replace(path=target)
            if source.language == PYTHON:
                python_bundle.check_models_link(source.path, self._root)
                if python_bundle.has_links(source.path):
                    python_bundle.write_bundle(source.path, self._root, target)
                    return source._replace(path=target)
        return source

    def _tag(self, repository: str, tag: str) -> str:
        from crossply.xpkg.image_reference import parse_tag

        with error_prefix("failed to construct image tag"):
            return str(parse_tag(f"{repository}:{tag}"))

    def _bases(self, base: str) -> list[Image]:
        """The base image of functions for each architecture, from the project's mirror if it has one."""
        from crossply.xpkg.image_config_selection import rewritten
        from crossply.xpkg.image_reference import parse
        from crossply.xpkg.project_functions import checked
        from crossply.xpkg.registry_failures import RegistryUnreachable
        from crossply.xpkg.user_image_pull import pull

        name, _ = rewritten(self._project.spec.get("imageConfigs") or (), base)
        images = []
        with (
            step_output(f"Fetching {name}", self._say),
            error_prefix(f"failed to fetch the base image {name}"),
        ):
            reference = parse(name)
            for architecture in self._project.architectures:
                try:
                    image = pull(self._invocation, reference, self._directory, architecture)
                except RegistryUnreachable as problem:
                    raise problem.replace(hint=f"{problem.hint}; {self._redirection()}") from None
                images.append(checked(image, architecture))
        return images

    def _redirection(self) -> str:
        """How to have base images pulled from another registry."""
        field = "imageConfig" if self._project.is_upbound else "imageConfigs"
        return f"spec.{field} of the project file redirects to a registry that you can reach"

    def _function(self, source: FunctionSource, bases: dict[str, list[Image]]) -> list[Image]:
        from crossply.xpkg.project_functions import build_function, saved_image

        step = f"Building function {source.name}"
        with step_output(step, self._say), error_prefix(f"failed to build function {quote(source.name)}"):
            base_images = bases.get(source.base) or [
                saved_image(source, architecture, self._directory)
                for architecture in self._project.architectures
            ]
            return build_function(self._project, source, base_images)


COMMAND = Command(
    "build",
    "Build all packages of a project into one file.",
    run,
    flags=(
        PROJECT_FILE_FLAG,
        REPOSITORY,
        Flag("output-dir", "Output directory for packages.", short="o", kind="string", default="_output"),
        Flag("max-concurrency", "Max concurrent function builds.", kind="int", default="8"),
        Flag(
            "cache-dir",
            "No effect: dependencies are not fetched for a build.",
            kind="string",
            placeholder="DIR",
            no_effect="dependencies are not fetched for a build",
        ),
    ),
    description=(
        "Builds a Configuration from the definitions, Compositions and operations of a project, and a\n"
        "Function from each directory in functions/: a KCL module (kcl.mod), a Python project\n"
        "(pyproject.toml), a Python file (main.py), or Go templates (*.gotmpl, *.tmpl). The Configuration\n"
        "depends on its Functions by their digests. No container engine is needed; the base images of the\n"
        "functions are fetched from their registries.\n\n"
        "The same files always give the same packages."
    ),
    examples=(
        "crossply project build",
        "crossply project build --repository=registry.example.org/team/platform -o build",
    ),
)

"""The functions of a project: each becomes a package for every architecture, without a compiler.

Its files decide the language of a function: a Python project or file, Go templates, or a KCL module. Each
is put on a published image. A function that others built comes as images in files.
"""

from __future__ import annotations

import os
import stat
import tempfile
from typing import NamedTuple

from crossply.kinds.generated_package_meta import function_meta
from crossply.kinds.project import EmbeddedFunction, Project
from crossply.values.goquote import quote
from crossply.values.yaml import dump
from crossply.xpkg import media_types as media
from crossply.xpkg.archive_reader import gzipped, read_archive
from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.generated_python_project import FILE, KCL_NEEDS, kcl_project_around, project_around
from crossply.xpkg.image import Image, Layer, append, encode, encode_index
from crossply.xpkg.layer_writer import Entry, write_layer
from crossply.xpkg.package_build import pack, read_examples, reading
from crossply.xpkg.package_directory import Directory, File
from crossply.xpkg.project_configuration import place_in
from crossply.xpkg.python_project_image import read_project, with_project
from crossply.xpkg.requirements_file import read_requirements
from crossply.xpkg.run_to_completion_image import plain_tarball

PYTHON_IMAGE = "gcr.io/distroless/python3-debian13:nonroot"
ITS_PYTHON = "3.13"
TEMPLATES_IMAGE = "xpkg.crossplane.io/crossplane-contrib/function-go-templating:v0.12.0"
PYTHON, TEMPLATES, KCL = "python", "go-templating", "kcl"
_BASES = {PYTHON: PYTHON_IMAGE, TEMPLATES: TEMPLATES_IMAGE, KCL: PYTHON_IMAGE}
_TEMPLATES_AT = "src"
_TEMPLATE_ENDINGS = (".gotmpl", ".tmpl")
_COMPILED = {"Cargo.toml": "Rust", "go.mod": "Go", "package.json": "TypeScript"}
_MOST_TEMPLATES = 10_000


class NoBuilder(BuildFailed):
    """A function of a project is written in a language that Crossply does not build."""

    code = "CP-912"
    hint = (
        "build its image with its own tools and list it in spec.functions with source: Tarball, or make a "
        "package of its own with crossply xpkg build and depend on that"
    )


class FunctionSource(NamedTuple):
    """A function of a project, and its source files."""

    name: str
    path: str
    """Its directory, or what the files of its images begin with."""
    language: str = ""
    """What it is written in; none where it is an image already."""

    @property
    def base(self) -> str:
        """The image that it is put on; none where it has its own."""
        return _BASES.get(self.language, "")


def functions_of(project: Project, root: str) -> list[EmbeddedFunction]:
    """The functions that a project lists, or else one for each directory among its functions."""
    if project.listed_functions:
        return list(project.listed_functions)
    directory = place_in(root, project.functions)
    if not os.path.isdir(directory):
        return []
    names = sorted(name for name in os.listdir(directory) if name[0] != "." and name != "__pycache__")
    return [EmbeddedFunction(name) for name in names if os.path.isdir(os.path.join(directory, name))]


def find_source(project: Project, root: str, function: EmbeddedFunction) -> FunctionSource:
    """What a function is made of."""
    if function.tarball:
        return FunctionSource(function.name, place_in(root, function.tarball))
    path = place_in(root, os.path.join(project.functions, function.name))
    if not os.path.isdir(path):
        raise BuildFailed(f"there is no directory {path}")
    return FunctionSource(function.name, path, language_of(path))


def language_of(directory: str) -> str:
    """The language of the function in a directory; raises NoBuilder for what is not built here."""
    present = set(os.listdir(directory))
    if "kcl.mod" in present or "main.k" in present:
        return KCL
    if "pyproject.toml" in present:
        read_project(directory)  # errors in it are reported before anything is fetched
        return PYTHON
    for name, language in _COMPILED.items():
        if name in present:
            raise NoBuilder(f"functions in {language} are not built here")
    if FILE in present:
        read_requirements(directory)
        return PYTHON
    if _are_templates(directory):
        return TEMPLATES
    raise NoBuilder(
        "failed to find a builder: no suitable builder found",
        hint="a function is a Python project with a pyproject.toml (see: crossply new function), a main.py, "
        "a KCL module (kcl.mod, main.k), or a directory of Go templates and nothing else (*.gotmpl, *.tmpl)",
    )


def _are_templates(directory: str) -> bool:
    files = _files_below(directory)
    return bool(files) and all(
        path.endswith(_TEMPLATE_ENDINGS) and stat.S_ISREG(os.lstat(os.path.join(directory, path)).st_mode)
        for path in files
    )


def _files_below(directory: str) -> list[str]:
    """All files below a directory, relative to it, in order."""
    files: list[str] = []
    for folder, folders, names in os.walk(directory):
        folders.sort()
        files += [os.path.relpath(os.path.join(folder, name), directory) for name in names]
        if len(files) > _MOST_TEMPLATES:
            raise BuildFailed(f"there are more than {_MOST_TEMPLATES} files in {directory}")
    return sorted(files, key=lambda path: path.split(os.sep))


def runtime_of(image: Image) -> Image:
    """Of an image what runs: without the layers that make a package of it, and all layers in one form."""
    annotated = image.with_label_annotations()
    diff_ids = image.diff_ids
    if len(diff_ids) != len(image.layers):
        raise BuildFailed("the base image does not describe its layers")
    entries = [
        (layer, diff_id)
        for layer, diff_id in zip(annotated.layers, diff_ids, strict=True)
        if layer.purpose not in (media.BASE, media.EXAMPLES)
    ]
    labels = {key: text for key, text in image.labels.items() if not key.startswith(f"{media.ANNOTATION}:")}
    config = {
        **image.config,
        "config": {**image.inner, "Labels": labels},
        "history": [],
        "rootfs": {"type": "layers", "diff_ids": [diff_id for _, diff_id in entries]},
    }
    return Image(config, tuple(Layer(gzipped(layer.blob)) for layer, _ in entries))


def saved_image(source: FunctionSource, architecture: str, directory: str) -> Image:
    """The image of a function that others built, for one architecture."""
    paths = [f"{source.path}-{architecture}.{ending}" for ending in ("tar", "tar.gz")]
    for path in paths:
        if os.path.isfile(path):
            return checked(read_archive(plain_tarball(path, directory)), architecture)
    looked = " ".join(map(os.path.relpath, paths))
    raise BuildFailed(
        f"no runtime image found for architecture {quote(architecture)}: looked for [{looked}]",
        hint="save one image for each architecture; spec.architectures says for which",
    )


def checked(image: Image, architecture: str) -> Image:
    """The image, if it is for an architecture."""
    built_for = image.platform["architecture"]
    if built_for != architecture:
        raise BuildFailed(
            f"image not available for architecture {quote(architecture)}",
            hint=f"it is for {built_for or 'none'}; spec.architectures says for which functions are built",
        )
    return image


def build_function(project: Project, source: FunctionSource, bases: list[Image]) -> list[Image]:
    """The packages of a function: one for each architecture, in the order of an index of them."""
    meta = File("crossplane.yaml", dump(function_meta(project, source.name)).encode())
    with reading():
        examples = read_examples(os.path.join(source.path, "examples")) if source.base else None
    content = pack(Directory((meta,)), examples)
    images = [content.onto(_with_code(runtime_of(base), source)) for base in bases]
    return sorted(images, key=lambda image: encode(image).manifest.digest)


def _with_code(base: Image, source: FunctionSource) -> Image:
    if source.language == PYTHON:
        return _with_python(base, source.path)
    if source.language == TEMPLATES:
        return _with_templates(base, source.path)
    return _with_kcl(base, source.path) if source.language == KCL else base


def _with_python(base: Image, directory: str) -> Image:
    if os.path.exists(os.path.join(directory, "pyproject.toml")):
        return with_project(base, directory, ITS_PYTHON)
    with tempfile.TemporaryDirectory(prefix="crossply-") as scratch:
        return with_project(base, project_around(directory, scratch), ITS_PYTHON)


def _with_kcl(base: Image, directory: str) -> Image:
    with tempfile.TemporaryDirectory(prefix="crossply-") as scratch:
        return with_project(
            base,
            kcl_project_around(directory, scratch),
            ITS_PYTHON,
            KCL_NEEDS,
        )


def _with_templates(base: Image, directory: str) -> Image:
    folders: dict[str, None] = {}
    files = []
    for path in _files_below(directory):
        full_path = os.path.join(_TEMPLATES_AT, path)
        parts = full_path.split(os.sep)[:-1]
        folders.update(dict.fromkeys("/".join(parts[:count]) for count in range(1, len(parts) + 1)))
        with open(os.path.join(directory, path), "rb") as file:
            files.append(Entry(full_path, file.read()))
    entries = [Entry(f"{folder}/", mode=0o755, is_directory=True) for folder in folders]
    written = write_layer([*entries, *files])
    image = append(base, Layer(written.blob), written.diff_id)
    environment = base.inner.get("Env")
    variable = f"FUNCTION_GO_TEMPLATING_DEFAULT_SOURCE=/{_TEMPLATES_AT}"
    inner = {**base.inner, "Env": [*(environment if isinstance(environment, list) else ()), variable]}
    return image._replace(config={**image.config, "config": inner})


def index_digest(images: list[Image]) -> str:
    """The digest by which the packages of a function are known together."""
    return encode_index([(image, encode(image)) for image in images], {}).digest

"""`crossply convert`: convert Compositions, XRDs, claims and XRs to their current form."""

from __future__ import annotations

from crossply.cli.composition.conversion import ENVIRONMENT_CONFIGS_FLAG, PATCH_AND_TRANSFORM_FLAG, text_of
from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.input_output_flags import input_file, output_file, write_output
from crossply.compose.object_metadata import name_of
from crossply.convert.crossplane_v2 import is_version_1
from crossply.convert.current_composition import FunctionNames
from crossply.convert.manifest_converter import Converter
from crossply.errors import CrossplyError
from crossply.manifests.file_io import read_input
from crossply.manifests.files import read_documents
from crossply.values.yaml import Document, YamlError, is_blank, read_stream


def run(invocation: Invocation) -> int:
    """Convert the documents of a file."""
    data = read_input(invocation["input-file"], invocation.stdin)
    documents = _documents(data, invocation["input-file"])
    converter = _converter([*documents, *_beside(invocation["xrd"])], invocation)
    _warn(documents, converter, invocation)
    texts = [_converted(document, converter, invocation) for document in documents]
    undefined = _report_undefined(documents, converter, invocation)
    if any(texts):
        parts = (text or _unchanged(document) for text, document in zip(texts, documents, strict=True))
        write_output(invocation, "".join(parts))
        return 0
    if not undefined:
        invocation.stderr.write("No changes needed.\n")
    write_output(invocation, data.decode("utf-8", "surrogateescape"))
    return 0


def _documents(data: bytes, path: str) -> list[Document]:
    source = "stdin" if path == "-" else path
    try:
        stream = read_stream(data, source)
    except YamlError as problem:
        raise problem.within("cannot convert: error converting YAML to JSON") from None
    # A document of comments only stays where it is.
    return [document for document in stream if b"#" in document.text or not is_blank(document.text)]


def _beside(paths: list[str] | None) -> list[Document]:
    return [document for path in paths or () for document in read_documents(path, "cannot parse XRD")]


def _converter(documents: list[Document], invocation: Invocation) -> Converter:
    objects = [document.value for document in documents if isinstance(document.value, dict)]
    definitions = [obj for obj in objects if is_version_1(obj)]
    names = FunctionNames(
        invocation["function-patch-and-transform-ref"], invocation["function-environment-configs-ref"]
    )
    try:
        return Converter(definitions, names, invocation["scope"] or "", objects)
    except CrossplyError as problem:
        raise problem.within("cannot convert: cannot read an XRD") from None


def _warn(documents: list[Document], converter: Converter, invocation: Invocation) -> None:
    """Name what the Compositions of kinds that become namespaced cannot compose any more."""
    for document in documents:
        if not isinstance(document.value, dict):
            continue
        for move in converter.misplaced(document.value):
            named = f'resource "{move.name}"' if move.name else "a resource"
            invocation.stderr.write(
                f"Composition {name_of(document.value)}: {named} has the cluster-scoped kind {move.kind} of "
                f"{move.api_version}. The XRD becomes Namespaced, and namespaced XRs cannot compose "
                f"cluster-scoped objects: {move.advice}, "
                "or keep the XRD cluster-scoped with --scope=Cluster.\n"
            )


def _report_undefined(documents: list[Document], converter: Converter, invocation: Invocation) -> bool:
    """Name the objects that may be claims or XRs, but whose definition is not known."""
    objects = [document.value for document in documents if isinstance(document.value, dict)]
    undefined = [obj for obj in objects if converter.is_undefined(obj)]
    for obj in undefined:
        invocation.stderr.write(
            f"{obj.get('kind')} {name_of(obj)}: unchanged, because the definition of {obj.get('kind')} of "
            f"{obj.get('apiVersion')} is unknown. If it is a claim or XR, name its XRD with --xrd.\n"
        )
    return bool(undefined)


def _converted(document: Document, converter: Converter, invocation: Invocation) -> str:
    """The text of a document in its new form; empty when it stays as it is."""
    obj = document.value
    if not isinstance(obj, dict):
        return ""
    subject = f"{obj.get('kind')} {name_of(obj)}"
    try:
        converted = converter.convert(obj)
    except CrossplyError as problem:
        located = problem.at(f"{document.source}:{document.line}")
        raise located.within(f"cannot convert {subject}") from None
    if converted is None:
        return ""
    for field in converted.left_out:
        invocation.stderr.write(f"{subject}: {field} is left out, version 2 has nothing like it.\n")
    return text_of(converted, document)


def _unchanged(document: Document) -> str:
    text = document.text.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    if not text.startswith("---"):
        text = f"---\n{text}"
    return text if text.endswith("\n") else f"{text}\n"


COMMAND = Command(
    "convert",
    "Convert Compositions, XRDs, claims and XRs to their current form.",
    run,
    arguments=(input_file("YAML file to convert"),),
    flags=(
        output_file("result"),
        Flag(
            "xrd",
            "Files or directories of v1 XRDs that define which kinds are claims and XRs, in "
            "addition to those in the input.",
            kind="paths",
            placeholder="PATH",
        ),
        Flag(
            "scope",
            "The scope of converted XRDs. Defaults to Namespaced if the XRD offers claims, else to Cluster.",
            kind="string",
            choices=("Namespaced", "Cluster"),
        ),
        PATCH_AND_TRANSFORM_FLAG,
        ENVIRONMENT_CONFIGS_FLAG,
    ),
    description=(
        "Reads a stream of YAML documents and converts those in an older form. Compositions "
        "(mode Resources,\n"
        "or from and to of the first design) become pipelines. v1 XRDs become v2 XRDs, and "
        "claims and XRs of\n"
        "their kinds become XRs that are used directly. Everything else is unchanged, including "
        "comments.\n"
        "Fields without a counterpart in the new form are reported."
    ),
    examples=(
        "crossply convert old.yaml -o new.yaml",
        "crossply convert claim.yaml --xrd=definition.yaml --scope=Namespaced",
    ),
)

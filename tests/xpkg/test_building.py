"""A directory becomes a package: deterministic, and errors are reported."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from crossply.errors import CrossplyError
from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.failures import BadArchive
from crossply.xpkg.image import EMPTY, digest
from crossply.xpkg.layer_writer import Entry, write_file_layer, write_layer
from crossply.xpkg.package_build import BuildPlan, BuiltPackage, build, default_file
from crossply.xpkg.package_stream_extraction import NoStream, stream_of
from crossply.xpkg.package_yaml import read
from tests.support.images import archive, image, member

FUNCTION = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: function-y}\nspec: {}\n"
CONFIGURATION = FUNCTION.replace("Function", "Configuration").replace("function-y", "platform")
PROVIDER = FUNCTION.replace("Function", "Provider").replace("function-y", "provider-y")
COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: caches}
spec:
  compositeTypeRef: {apiVersion: acme.test/v1, kind: XCache}
  mode: Pipeline
  pipeline:
  - {step: one, functionRef: {name: f}}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: inputs.acme.test}
spec:
  group: acme.test
  names: {kind: Input, plural: inputs}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}}]
"""


def build_package(root: Path, files: dict[str, str], **plan: object) -> BuiltPackage:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return build(BuildPlan(str(root), str(root / "examples"), **plan))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "mode"),
    [
        ("", "Pipeline"),
        ("  resources: [{name: bucket}]\n", "Resources"),
        ('  mode: ""\n  resources: [{name: bucket}]\n', "Resources"),
    ],
)
def test_a_composition_without_a_mode_is_packaged_with_the_mode_that_it_means(old: str, mode: str) -> None:
    package = read(COMPOSITION.replace("  mode: Pipeline\n", old).encode())
    assert package.objects[0]["spec"]["mode"] == mode


@pytest.mark.parametrize("version", ["v1alpha1", "v2alpha1"])
def test_compositions_of_the_designs_are_packaged(version: str) -> None:
    first = "  from: {apiVersion: acme.test/v1, kind: XCache}\n  to: [{name: bucket}]\n"
    text = COMPOSITION.partition("  compositeTypeRef")[0].replace("/v1\n", f"/{version}\n") + first
    [composition] = read(text.encode()).objects
    assert composition["apiVersion"] == f"apiextensions.crossplane.io/{version}"
    assert composition["spec"] == {
        "compositeTypeRef": {"apiVersion": "acme.test/v1", "kind": "XCache"},
        "from": {"apiVersion": "acme.test/v1", "kind": "XCache"},
        "mode": "Resources",
        "to": [{"name": "bucket"}],
    }


def test_a_function_is_described_in_the_version_of_its_first_design(tmp_path: Path) -> None:
    alpha = FUNCTION.replace("pkg.crossplane.io/v1", "pkg.crossplane.io/v1alpha1").replace("spec: {}\n", "")
    built = build_package(tmp_path, {"crossplane.yaml": alpha})
    assert read(stream_of(built.image)).kind == "Function"


def test_fields_of_steps_that_only_we_have_are_packaged() -> None:
    fields = {
        "inputRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "input"},
        "maxIterations": -1,
        "allowedExtraResources": [],
    }
    step = {"step": "one", "functionRef": {"name": "f"}, **fields}
    package = read(COMPOSITION.replace("{step: one, functionRef: {name: f}}", json.dumps(step)).encode())
    [packaged] = package.objects[0]["spec"]["pipeline"]
    assert packaged == step


def test_the_package_describes_itself_first_whatever_its_files_are_called(tmp_path: Path) -> None:
    built = build_package(tmp_path, {"a.yaml": COMPOSITION, "crossplane.yaml": CONFIGURATION})
    text = stream_of(built.image).decode()
    assert text.startswith("---\napiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\n")
    assert [obj["kind"] for obj in read(text.encode()).objects] == ["Composition"]


def test_unknown_fields_do_not_get_into_a_package(tmp_path: Path) -> None:
    odd = COMPOSITION + "  surprise: 1\nstatus: {}\n"
    built = build_package(tmp_path, {"crossplane.yaml": CONFIGURATION, "a.yaml": odd})
    assert "surprise" not in stream_of(built.image).decode()


def test_fields_of_compositions_that_only_we_know_are_preserved(tmp_path: Path) -> None:
    odd = COMPOSITION.replace("mode: Pipeline", "mode: Resources\n  resources: [{name: bucket}]")
    built = build_package(tmp_path, {"crossplane.yaml": CONFIGURATION, "a.yaml": odd})
    assert "resources:\n  - name: bucket" in stream_of(built.image).decode()


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    files = {"crossplane.yaml": CONFIGURATION, "b/x.yaml": COMPOSITION, "examples/e.yaml": COMPOSITION}
    written = []
    for name in ("one", "two"):
        built = build_package(tmp_path / name, files)
        write_archive(built.image, str(tmp_path / f"{name}.xpkg"))
        written.append((tmp_path / f"{name}.xpkg").read_bytes())
    assert written[0] == written[1]


def test_a_package_file_is_named_by_its_name_and_its_digest(tmp_path: Path) -> None:
    built = build_package(tmp_path, {"crossplane.yaml": FUNCTION})
    name = default_file("/x", built, digest(built.image))
    assert name == f"/x/function-y-{digest(built.image)[7:19]}.xpkg"


def test_a_written_package_is_read_back_with_its_annotations(tmp_path: Path) -> None:
    built = build_package(tmp_path / "src", {"crossplane.yaml": FUNCTION, "examples/e.yaml": COMPOSITION})
    write_archive(built.image, str(tmp_path / "x.xpkg"))
    archived = read_archive(str(tmp_path / "x.xpkg"))
    assert [layer.purpose for layer in archived.layers] == ["base", "upbound"]
    assert stream_of(archived) == stream_of(built.image)
    assert digest(archived) == digest(built.image)


def test_archives_hold_nothing_of_the_time_and_the_user(tmp_path: Path) -> None:
    built = build_package(tmp_path / "src", {"crossplane.yaml": FUNCTION})
    write_archive(built.image, str(tmp_path / "x.xpkg"))
    with tarfile.open(tmp_path / "x.xpkg") as tar:
        members = tar.getmembers()
    assert {(entry.mtime, entry.uid, entry.mode) for entry in members} == {(0, 0, 0o644)}
    assert [entry.name[:7] for entry in members] == ["sha256:", members[1].name[:7], "manifes"]


def test_the_runtime_keeps_its_configuration_and_layers(tmp_path: Path) -> None:
    base = image(archive([member("function", b"\x7fELF", mode=0o755)]))
    config = {**base.config, "config": {"Entrypoint": ["/function"], "Labels": {"keep": "me"}}}
    built = build_package(tmp_path, {"crossplane.yaml": FUNCTION}, base=base._replace(config=config))
    inner = built.image.config["config"]
    assert inner["Entrypoint"] == ["/function"]
    assert inner["Labels"]["keep"] == "me"
    assert [layer.purpose for layer in built.image.layers] == ["", "base"]
    assert built.image.diff_ids[0] == base.diff_ids[0]


def test_ignored_files_and_those_that_are_no_yaml_are_left_out(tmp_path: Path) -> None:
    files = {
        "crossplane.yaml": FUNCTION,
        "k/junk.yaml": "a: 1",
        "junk.yml": "a: 1",
        "x.txt": "{",
        "e.yaml": "",
    }
    built = build_package(tmp_path, files, ignored=["k/*", "junk.y?l"])
    assert built.package.objects == ()


MISTAKES = {
    "no description": ({"a.yaml": COMPOSITION}, "not exactly one package meta type"),
    "two descriptions": (
        {"a.yaml": FUNCTION, "b.yaml": FUNCTION},
        "not exactly one package meta type",
    ),
    "an object of a kind that packages do not hold": (
        {"crossplane.yaml": FUNCTION, "pod.yaml": "apiVersion: v1\nkind: Pod\n"},
        "failed to parse package: {{path:{dir}/pod.yaml position:0}}: "
        'no kind "Pod" is registered for version "v1"',
    ),
    "a number where a text belongs": (
        {"crossplane.yaml": FUNCTION.replace("spec: {}", "spec: {crossplane: {version: 1}}")},
        "json: cannot unmarshal number into Go struct field "
        "CrossplaneConstraints.spec.crossplane.version of type string",
    ),
    "a constraint that is none": (
        {"crossplane.yaml": FUNCTION.replace("spec: {}", "spec: {crossplane: {version: '>>1'}}")},
        "failed to lint package: package version constraints are poorly formatted: improper constraint: >>1",
    ),
    "a composition in a function": (
        {"crossplane.yaml": FUNCTION, "c.yaml": COMPOSITION},
        "failed to lint package: object is not a CRD",
    ),
    "a composition in a provider": (
        {"crossplane.yaml": PROVIDER, "c.yaml": COMPOSITION},
        "object did not pass any of the linters with following errors: "
        "object is not a CRD, object is not an MRD",
    ),
    "a kind that is missing": (
        {"crossplane.yaml": FUNCTION, "x.yaml": "apiVersion: v1\n"},
        "Object 'Kind' is missing in 'apiVersion: v1\n\n...\n\n'",
    ),
    "an example that is no object": (
        {"crossplane.yaml": FUNCTION, "examples/x.yaml": "[1]"},
        "failed to parse examples: {{path:{dir}/examples/x.yaml position:0}}: error unmarshaling JSON",
    ),
}


@pytest.mark.parametrize(("files", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_errors_have_the_words_people_know(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(CrossplyError) as caught:
        build_package(tmp_path, files)
    assert message.replace("{{", "{").replace("}}", "}").replace("{dir}", str(tmp_path)) in str(caught.value)


def test_the_right_file_is_the_place_of_an_error_even_where_the_sentence_names_the_next(
    tmp_path: Path,
) -> None:
    files = {"a.yaml": "apiVersion: v1\nkind: Pod\n", "crossplane.yaml": FUNCTION}
    with pytest.raises(CrossplyError, match=r"crossplane\.yaml position:0") as caught:
        build_package(tmp_path, files)
    assert caught.value.place == str(tmp_path / "a.yaml")


def test_an_error_in_a_file_of_several_documents_is_at_its_end(tmp_path: Path) -> None:
    text = f"{FUNCTION}---\nkind: [\n---\n{COMPOSITION}"
    with pytest.raises(CrossplyError, match=f"position:{len(text)}"):
        build_package(tmp_path, {"crossplane.yaml": text})


def test_types_get_the_fields_that_go_writes(tmp_path: Path) -> None:
    built = build_package(tmp_path, {"crossplane.yaml": PROVIDER, "crd.yaml": CRD})
    crd = built.package.objects[0]
    assert crd["status"] == {
        "acceptedNames": {"kind": "", "plural": ""},
        "conditions": None,
        "storedVersions": None,
    }
    assert crd["spec"]["versions"][0]["subresources"] == {"status": {}}


def test_a_stream_is_read_from_a_file_system_too() -> None:
    stream = b"apiVersion: meta.pkg.crossplane.io/v1\nkind: Function\n"
    plain = image(archive([member("a/package.yaml", stream)]), archive([member("other", b"1")]))
    assert stream_of(plain) == stream
    hidden = image(archive([member("a/package.yaml", stream)]), archive([member("a/.wh.package.yaml")]))
    with pytest.raises(NoStream):
        stream_of(hidden)


def test_two_layers_cannot_both_be_the_package() -> None:
    layer = archive([member("package.yaml", b"")])
    with pytest.raises(BadArchive, match="multiple annotated base layers"):
        stream_of(image(layer, layer + bytes(512), purposes=["base", "base"]))


def test_an_oci_layout_is_read_as_a_directory(tmp_path: Path) -> None:
    from crossply.xpkg.image import encode

    picture = image(archive([member("package.yaml", b"x: 1")]), purposes=["base"])
    encoded = encode(picture)
    blobs = tmp_path / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    for blob in (encoded.manifest, encoded.config, picture.layers[0].blob):
        (blobs / blob.digest[7:]).write_bytes(blob.open().read())
    described = {"digest": encoded.manifest.digest, "size": encoded.manifest.size}
    other = {
        **described,
        "digest": f"sha256:{'0' * 64}",
        "platform": {"os": "linux", "architecture": "s390x"},
    }
    own = {**described, "platform": {"os": "linux", "architecture": "amd64"}}
    (tmp_path / "index.json").write_text(json.dumps({"manifests": [other, own]}))
    assert stream_of(read_archive(str(tmp_path))) == b"x: 1"
    (blobs / picture.layers[0].blob.digest[7:]).write_bytes(gzip.compress(b"other"))
    with pytest.raises(CrossplyError, match="digest"):
        read_archive(str(tmp_path))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"no archive", "unexpected EOF"),
        (b"no archive" * 100, "archive/tar: invalid tar header"),
        (b"", "file manifest.json not found in tar"),
        (archive([]), "file manifest.json not found in tar"),
    ],
    ids=["text", "much text", "nothing", "an empty archive"],
)
def test_a_file_that_is_no_image_is_reported(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "x.xpkg").write_bytes(data)
    with pytest.raises(BadArchive, match=message):
        read_archive(str(tmp_path / "x.xpkg"))


def test_an_image_of_too_many_layers_is_refused(tmp_path: Path) -> None:
    """The rest is not left out in silence."""
    manifest = json.dumps([{"Config": "c.json", "Layers": ["layer.tar"] * 1001}]).encode()
    config, layer = json.dumps(EMPTY.config).encode(), archive([])
    (tmp_path / "image.tar").write_bytes(
        archive([member("c.json", config), member("layer.tar", layer), member("manifest.json", manifest)])
    )
    with pytest.raises(BadArchive, match="the image has more than 1000 layers"):
        read_archive(str(tmp_path / "image.tar"))


def test_uncompressed_layers_are_compressed(tmp_path: Path) -> None:
    plain = archive([member("function", b"1")])
    config = json.dumps({**EMPTY.config, "rootfs": {"diff_ids": []}}).encode()
    manifest = json.dumps([{"Config": "c.json", "Layers": ["l/layer.tar"]}]).encode()
    buffer = io.BytesIO(
        archive([member("c.json", config), member("l/layer.tar", plain), member("manifest.json", manifest)])
    )
    (tmp_path / "image.tar").write_bytes(buffer.getvalue())
    blob = read_archive(str(tmp_path / "image.tar")).layers[0].blob
    assert gzip.decompress(blob.open().read()) == plain


def test_a_layer_of_a_large_file_is_that_of_its_bytes_and_stays_out_of_memory(tmp_path: Path) -> None:
    data = b"program" * 100_000
    (tmp_path / "program").write_bytes(data)
    blobs = tmp_path / "kept"
    blobs.mkdir()
    written = write_file_layer(str(tmp_path / "program"), "bin/program", 0o755, str(blobs))
    expected = write_layer([Entry("bin/program", data, 0o755)])
    assert (written.diff_id, written.blob.digest) == (expected.diff_id, expected.blob.digest)
    assert [path.stat().st_size for path in blobs.iterdir()] == [written.blob.size]

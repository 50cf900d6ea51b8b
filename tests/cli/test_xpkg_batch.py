"""`xpkg batch` makes many small packages of one base image, each with the kinds and program of a service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web
from tests.packages.making import archive, image, member
from tests.packages.peers import PROGRAM, Lying, docker_registry, pushed
from xpkg_bench import Run, last

from crossply.cli import xpkg_batch
from crossply.packages import media
from crossply.packages.archive import read_archive
from crossply.packages.contents import stream_of
from crossply.packages.failures import BuildFailed
from crossply.packages.family import Naming, parse_platform
from crossply.packages.image import Image
from crossply.packages.pulling import Found, manifest, pull_image
from crossply.packages.references import parse
from crossply.packages.registry import Registries
from crossply.packages.registry_failures import NotInRegistry
from crossply.packages.stream import Package, read
from crossply.packages.unpacking import unpack

pytestmark = pytest.mark.xdist_group("registry")
real = pytest.mark.skipif(PROGRAM is None, reason="docker-registry is not installed")
PLATFORMS = ("linux_amd64", "linux_arm64")
TEMPLATE = """\
apiVersion: meta.pkg.crossplane.io/v1
kind: Provider
metadata:
  name: {{ .Name }}
  annotations:
    service: {{ .Service }}
    colour: {{ .colour }}
spec:
  dependsOn:
  - provider: registry.test/team/provider-family-sky
    version: ">= 0.0.0"
"""


def crd(kind: str, group: str) -> str:
    plural = f"{kind.lower()}s"
    return (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        f"metadata: {{name: {plural}.{group}}}\n"
        f"spec: {{group: {group}, scope: Cluster, names: {{kind: {kind}, plural: {plural}}}, versions: []}}\n"
    )


def base(architecture: str) -> Image:
    made = image(archive([member("etc/base", architecture.encode())]))
    inner = {"Entrypoint": ["/usr/local/bin/provider"], "User": "65532"}
    return made._replace(config={**made.config, "architecture": architecture, "config": inner})


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """The repository of a family: a template, CRDs of two services, examples of one, programs of both."""
    files = {
        "package/crossplane.yaml.tmpl": TEMPLATE,
        "package/crds/moon.sky.test_craters.yaml": crd("Crater", "moon.sky.test"),
        "package/crds/deeper/moon.sky.test_seas.yaml": crd("Sea", "moon.sky.test"),
        "package/crds/moonshine.sky.test_rays.yaml": crd("Ray", "moonshine.sky.test"),
        "package/crds/sun.sky.test_spots.yaml": crd("Spot", "sun.sky.test"),
        "package/crds/sun.README.md": "no YAML",
        "examples/moon/crater.yaml": "apiVersion: moon.sky.test/v1\nkind: Crater\nmetadata: {name: big}\n",
        **{
            f"bin/{platform}/{name}": f"{name} {platform}"
            for platform in PLATFORMS
            for name in ("moon", "sun")
        },
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry with the base images."""
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        for architecture in ("amd64", "arm64"):
            pushed(address, base(architecture), f"team/base:v1-{architecture}")
        pushed(address, base("amd64"), "team/base:wrong-arm64")
        yield address


def words(address: str, repository: str = "team") -> list[str]:
    return [
        "batch",
        f"--family-base-image={address}/team/base:v1",
        "--provider-name=provider-sky",
        f"--family-package-url-format={address}/{repository}/%s:v1.0.0",
        "--provider-bin-root=bin",
        "--template-var=colour=grey",
    ]


def found(text: str) -> Found:
    async def main() -> Found:
        async with Registries() as registries:
            return await manifest(registries, parse(text))

    return asyncio.run(main())


def pulled(text: str, directory: Path, architecture: str = "") -> Image:
    directory.mkdir(exist_ok=True)

    async def main() -> Image:
        async with Registries() as registries:
            return (await pull_image(registries, parse(text), str(directory), architecture)).image

    return asyncio.run(main())


def package_of(made: Image) -> Package:
    return read(stream_of(made))


def kinds(made: Image) -> list[str]:
    return [each["spec"]["names"]["kind"] for each in package_of(made).objects]


@real
def test_every_service_becomes_a_package_for_all_platforms(run: Run, family: Path, registry: str) -> None:
    assert run(*words(registry), "--smaller-providers=moon,sun") == (0, "", "")
    for service, wanted in (("moon", ["Sea", "Crater"]), ("sun", ["Spot"])):
        name = f"{registry}/team/provider-sky-{service}:v1.0.0"
        index = found(name)
        assert index.media_type == media.OCI_INDEX
        told = [each["platform"] for each in index.content["manifests"]]
        assert told == [{"os": "linux", "architecture": each} for each in ("amd64", "arm64")]
        for architecture in ("amd64", "arm64"):
            made = pulled(name, family / "blobs", architecture)
            assert kinds(made) == wanted
            described = package_of(made).meta["metadata"]
            assert described["name"] == f"provider-sky-{service}"
            assert described["annotations"] == {"service": service, "colour": "grey"}
            assert made.inner["Entrypoint"] == ["/usr/local/bin/provider"]
            root = family / f"{service}-{architecture}"
            root.mkdir()
            unpack(made, str(root))
            program = root / "usr/local/bin/provider"
            assert program.read_text() == f"{service} linux_{architecture}"
            assert program.stat().st_mode & 0o777 == 0o755
            assert (root / "etc/base").read_text() == architecture, "the layers of the base are below"


@real
def test_platforms_share_the_layers_of_the_package(run: Run, family: Path, registry: str) -> None:
    assert run(*words(registry, "shared"), "--smaller-providers=moon", "--concurrency=1")[0] == 0
    name = f"{registry}/shared/provider-sky-moon:v1.0.0"
    layers = [pulled(name, family / "blobs", each).layers for each in ("amd64", "arm64")]
    for each in layers:
        assert [layer.purpose for layer in each] == ["", media.BASE, media.EXAMPLES, ""]
    amd, arm = ([layer.blob.digest for layer in each] for each in layers)
    assert amd[1:3] == arm[1:3]
    assert amd[0] != arm[0]
    assert amd[3] != arm[3]


@real
def test_packages_can_be_stored_and_not_pushed(run: Run, family: Path, registry: str) -> None:
    stored = ["--build-only", "--store-packages=moon", "-o", "out", "--smaller-providers=moon,sun"]
    assert run(*words(registry, "unpushed"), *stored) == (0, "", "")
    files = sorted(str(path.relative_to(family)) for path in (family / "out").rglob("*.xpkg"))
    assert files == [f"out/{platform}/provider-sky-moon-v1.0.0.xpkg" for platform in PLATFORMS]
    made = read_archive(str(family / files[1]))
    assert (made.platform["architecture"], kinds(made)) == ("arm64", ["Sea", "Crater"])
    with pytest.raises(NotInRegistry):
        found(f"{registry}/unpushed/provider-sky-moon:v1.0.0")
    before = (family / files[0]).read_bytes()
    run(*words(registry, "unpushed"), *stored)
    assert (family / files[0]).read_bytes() == before, "the same files give the same package"


@real
def test_overrides_say_what_else_belongs_to_a_service(run: Run, family: Path, registry: str) -> None:
    for platform in PLATFORMS:
        (family / "bin" / platform / "monolith").write_text("all")
    code, _, err = run(
        *words(registry, "other"),
        "--smaller-providers=monolith,sun",
        "--crd-group-override=monolith=*;sun=moonshine",
        "--examples-group-override=monolith=*;sun=moon",
        "--package-repo-override=monolith=provider-all",
        "--provider-name-suffix-for-push=next",
        "--ignore=moon.sky.test_*.yaml",
        "--platform=linux_arm64",
    )
    assert (code, err) == (0, "")
    monolith = pulled(f"{registry}/other/provider-all-next:v1.0.0", family / "blobs")
    assert found(f"{registry}/other/provider-all-next:v1.0.0").media_type == media.OCI_MANIFEST
    assert kinds(monolith) == ["Sea", "Ray", "Spot"], "what is ignored is ignored in the folder itself"
    assert package_of(monolith).name == "provider-all", "the suffix is only for the repository"
    sun = pulled(f"{registry}/other/provider-sky-next-sun:v1.0.0", family / "blobs")
    assert kinds(sun) == ["Ray"]
    assert [layer.purpose for layer in sun.layers].count(media.EXAMPLES) == 1


@real
def test_variables_come_from_a_file_and_from_flags(run: Run, family: Path, registry: str) -> None:
    (family / "package/crossplane.yaml.tmpl").write_text(
        TEMPLATE.replace(
            "    colour: {{ .colour }}\n",
            "    colour: {{ .colour }}\n    phases: |\n{{ toYAML .phases | indent 6 }}\n"
            '    size: "{{ .size }}"\n{{- range .phases }}\n    phase-{{ . }}: there{{ end }}\n'
            '    pair: |\n{{ dict "a" .size | toYAML | indent 6 }}\n',
        )
    )
    (family / "vars.yaml").write_text("moon: {colour: white, phases: [new, full], size: 3}\nsun:\n")
    assert run(*words(registry, "vars"), "--smaller-providers=moon", "--service-metadata=vars.yaml") == (
        0,
        "",
        "",
    )
    made = pulled(f"{registry}/vars/provider-sky-moon:v1.0.0", family / "blobs")
    assert package_of(made).meta["metadata"]["annotations"] == {
        "service": "moon",
        "colour": "grey",
        "phases": "- new\n- full\n",
        "size": "3",
        "phase-new": "there",
        "phase-full": "there",
        "pair": "a: 3\n",
    }


@real
def test_what_fails_does_not_keep_the_others_and_all_failures_are_told(
    run: Run, family: Path, registry: str
) -> None:
    code, _, err = run(
        *words(registry, "some"), "--smaller-providers=mars,moon,venus", "--crd-group-override=mars=*"
    )
    assert code == 1
    assert "try: programs are at <provider-bin-root>/<OS>_<arch>/<service>" in err
    assert "warning: the package of venus has no CRDs" in err
    assert "processing of at least one smaller provider has failed: \n" in err
    for service in ("mars", "venus"):
        path = f"{family}/bin/linux_amd64/{service}"
        begin = f'\nfailed to process smaller provider package for "{service}": failed to read "{service}" '
        end = f"from path: {path}: open {path}: no such file or directory"
        assert f"{begin}provider binary for linux_amd64 platform {end}" in err
    assert kinds(pulled(f"{registry}/some/provider-sky-moon:v1.0.0", family / "blobs")) == ["Sea", "Crater"]


MISTAKES = [
    ("--platform=linux", 1, "failed to parse platform name. Expected syntax is <OS>_<arch>: linux"),
    ("--concurrency=-1", 80, '--concurrency: expected a valid 64 bit uint but got "-1"'),
    ("--provider-bin-root=nowhere", 80, "no such file or directory"),
    ("--family-package-url-format=registry.test/x:v1", 1, 'format "registry.test/x:v1" does not contain %s'),
    (
        "--family-package-url-format=%s",
        1,
        'failed to push smaller provider package: moon: failed to parse package tag "provider-sky-moon": ',
    ),
    ("--package-metadata-template=no.tmpl", 1, "smaller provider metadata template is not valid: open "),
    ("--crd-root=nowhere", 1, "failed to initialize the CRD parser backend: lstat "),
    ("--service-metadata=nowhere", 1, "failed to load service metadata file; check the file path and YAML"),
    ("--service-metadata=list.yaml", 1, "it is not a map of services"),
    ("--service-metadata=text.yaml", 1, 'service metadata (service "moon"): it is not a map of variables'),
    (
        "--service-metadata=nested.yaml",
        1,
        'metadata (service "moon"): variable "deep": a variable is a scalar or a list of scalars',
    ),
    (
        "--package-metadata-template=unknown.tmpl",
        1,
        'template is not valid: template: unknown.tmpl:1: function "upper" not defined',
    ),
    (
        "--package-metadata-template=odd.tmpl",
        1,
        "using: map[Name:provider-sky-moon Service:moon colour:grey]: template: odd.tmpl:1:",
    ),
    (
        "--package-metadata-template=empty.tmpl",
        1,
        "smaller provider package: moon: not exactly one package meta",
    ),
]


@real
@pytest.mark.parametrize(("flag", "code", "told"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_mistakes_are_told(run: Run, family: Path, registry: str, flag: str, code: int, told: str) -> None:
    (family / "list.yaml").write_text("[moon]")
    (family / "text.yaml").write_text("moon: full")
    (family / "nested.yaml").write_text("moon: {deep: [{a: b}]}")
    (family / "unknown.tmpl").write_text("{{ .Name | upper }}")
    (family / "odd.tmpl").write_text('{{ dict "a" }}')
    (family / "empty.tmpl").write_text("")
    found_code, out, err = run(*words(registry, "mistakes"), "--smaller-providers=moon", flag)
    assert (found_code, out.partition(" ")[0]) == (code, "Usage:" if code == 80 else "")
    assert told in last(err)


@real
def test_a_base_image_that_is_missing_or_for_another_platform_is_told(
    run: Run, family: Path, registry: str
) -> None:
    code, _, err = run(*words(registry), f"--family-base-image={registry}/team/base:v7")
    assert code == 1
    assert f"failed to get the base image {registry}/team/base:v7-amd64: " in last(err)
    assert "check the repository and the tag" in err
    code, _, err = run(
        *words(registry), f"--family-base-image={registry}/team/base:wrong", "--platform=linux_arm64"
    )
    assert code == 1
    assert (
        last(err)
        == f"the base image {registry}/team/base:wrong-arm64 is for linux_amd64, not for linux_arm64"
    )


def test_flags_that_are_needed_are_asked_for(run: Run) -> None:
    code, _, err = run("batch", "--provider-name=x")
    assert code == 80
    assert "missing flags: --family-base-image=STRING, --family-package-url-format=STRING" in err


class Moody(Lying):
    """A registry that has a base image, and takes manifests only after so many refusals."""

    def __init__(self, refusals: int, status: int) -> None:
        super().__init__()
        self.refusals, self.status = refusals, status
        self.asked = 0

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            return web.Response(status=202, headers={"Location": "/upload"})
        if request.method != "PUT":
            return await super()._handle(request)
        await request.read()
        if "/manifests/" not in request.path:
            return web.Response(status=201)
        self.asked += 1
        return web.Response(status=201 if self.asked > self.refusals else self.status)


RETRIES = [
    (2, 500, "--push-retry=3", 0, 3, "it is tried until it succeeds"),
    (9, 500, "--push-retry=1", 1, 2, "it is tried so often"),
    (9, 403, "--push-retry=3", 1, 1, "who may not is not heard again"),
]


@pytest.mark.parametrize(
    ("refusals", "status", "flag", "code", "asked", "why"), RETRIES, ids=[row[5] for row in RETRIES]
)
def test_pushing_is_tried_again(
    run: Run,
    family: Path,
    monkeypatch: pytest.MonkeyPatch,
    refusals: int,
    status: int,
    flag: str,
    code: int,
    asked: int,
    why: str,
) -> None:
    monkeypatch.setattr(xpkg_batch, "FIRST_PAUSE", 0.01)
    moody = Moody(refusals, status)
    moody.serve_image(base("amd64"), "team/base", "v1-amd64")

    async def main() -> tuple[int, str, str]:
        async with moody.running() as there:
            line = [*words(there.address), "--smaller-providers=moon", "--platform=linux_amd64", flag]
            return await asyncio.to_thread(run, *line)

    found_code, _, err = asyncio.run(main())
    assert (found_code, moody.asked) == (code, asked), why
    if code:
        told = "failed to push smaller provider package: moon: failed to push package file moon-linux_amd64: "
        assert told in last(err)


FILES = [
    ("registry.test/team/%s:v1.0.0", "v1.0.0", "a tag is the version"),
    ("registry.test/team/%s", "latest", "no tag"),
    ("127.0.0.1:5000/team/%s", "latest", "a port is no tag"),
    ("127.0.0.1:5000/team/%s:v2", "v2", "a port and a tag"),
]


@pytest.mark.parametrize(("url_format", "version", "why"), FILES, ids=[row[2] for row in FILES])
def test_files_are_named_by_the_version(url_format: str, version: str, why: str) -> None:
    assert Naming("provider-sky", url_format, {}).file("moon") == f"provider-sky-moon-{version}.xpkg", why


@pytest.mark.parametrize("text", ["", "linux", "linux_", "_arm64", "linux_arm_v7", "linux/arm64"])
def test_a_platform_is_two_words(text: str) -> None:
    with pytest.raises(BuildFailed):
        parse_platform(text)

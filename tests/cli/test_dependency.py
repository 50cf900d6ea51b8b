"""`dependency add`, `update-cache` and `clean-cache`: what a project depends on, fetched and noted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.values.yaml import load
from tests.support.cli.command import Run
from tests.support.images import package
from tests.support.programs import needs
from tests.support.registry import docker_registry, pushed

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("registry"),
]

PROJECT = """\
# Our platform.
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata:
  name: platform   # as the team calls it
spec:
  repository: registry.test/team/platform

  # What we build on.
  dependencies:
    # Kept from the beginning.
    - type: k8s
      k8s:
        version: v1.33.0
  architectures: [amd64]
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: KINDs.acme.test}
spec:
  group: acme.test
  names: {kind: KIND, plural: KINDs}
  scope: Cluster
  versions:
  - name: VERSION
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {watt: {type: integer}}}}
"""


def crd(kind: str, version: str = "v1") -> str:
    return CRD.replace("KIND", kind).replace("VERSION", version)


def stream(kind: str, name: str, *objects: str, depends_on: str = "") -> bytes:
    head = f"apiVersion: meta.pkg.crossplane.io/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n"
    return "---\n".join([f"{head}spec: {{{depends_on}}}\n", *objects]).encode()


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry with a provider in two versions, and a configuration that depends on it."""
    with docker_registry(tmp_path_factory.mktemp("packages")) as address:
        for version in ("v1.0.0", "v1.2.0"):
            provider = stream(
                "Provider", "lamps", crd("Lamp", version.partition(".")[0] + "alpha" + version[3])
            )
            pushed(address, package(provider), f"acme/lamps:{version}")
        depends_on = f"dependsOn: [{{provider: {address}/acme/lamps, version: '>=v1.0.0'}}]"
        home = package(stream("Configuration", "home", depends_on=depends_on))
        pushed(address, home, "acme/home:v3.0.0")
        lonely = stream("Configuration", "lonely", depends_on=depends_on.replace("lamps", "nothing"))
        pushed(address, package(lonely), "acme/lonely:v1.0.0")
        yield address


@pytest.fixture
def dependency(crossply: Run, tmp_path: Path) -> Run:
    """Run `crossply dependency …` in a project."""
    Path("crossplane-project.yaml").write_text(PROJECT)
    return lambda *words: crossply("dependency", *words)


def added() -> str:
    """What the project file has got; all that was there before has to be there."""
    text = Path("crossplane-project.yaml").read_text()
    head, tail = PROJECT.split("  architectures")
    assert text.startswith(head)
    assert text.endswith(f"  architectures{tail}")
    return text[len(head) : -len(f"  architectures{tail}")]


@pytest.mark.parametrize(
    ("version", "noted", "cached"),
    [
        ("", "'>=v0.0.0'", "@v1.2.0"),
        (":v1.0.0", "v1.0.0", "@v1.0.0"),
        (":1.0.x", "1.0.x", "@v1.0.0"),
        (":>=v1.0.0, <v1.2.0", ">=v1.0.0, <v1.2.0", "@v1.0.0"),
    ],
)
def test_a_package_is_recorded_with_its_constraint_and_fetched_in_the_best_version(
    dependency: Run, packages: str, version: str, noted: str, cached: str, tmp_path: Path
) -> None:
    code, _, err = dependency("add", f"{packages}/acme/lamps{version}")
    assert code == 0, err
    assert err.endswith(f"✓ Adding {packages}/acme/lamps:{noted.strip(chr(39))}\n")
    assert load(added()) == [
        {
            "type": "xpkg",
            "xpkg": {
                "apiVersion": "pkg.crossplane.io/v1",
                "kind": "Provider",
                "package": f"{packages}/acme/lamps",
                "version": noted.strip("'"),
            },
        }
    ]
    inside = f"{packages}/acme/lamps{cached}".replace(":", "@")
    assert (tmp_path / "home/.crossplane/cache" / inside / "package.yaml").exists()


@pytest.mark.parametrize("version", ["", ":v1.0.0"])
def test_a_registry_may_be_called_localhost(dependency: Run, packages: str, version: str) -> None:
    local = packages.replace("127.0.0.1", "localhost")
    code, _, err = dependency("add", f"{local}/acme/lamps{version}")
    assert code == 0, err
    assert load(added())[0]["xpkg"]["package"] == f"{local}/acme/lamps"


def test_a_digest_is_a_version_and_a_package_may_be_for_its_api_only(dependency: Run, packages: str) -> None:
    digest = _digest(packages)
    code, _, err = dependency("add", f"{packages}/acme/home@{digest}", "--api-only", "--cache-dir=c")
    assert code == 0, err
    entry = load(added())[0]["xpkg"]
    assert (entry["kind"], entry["version"], entry["apiOnly"]) == ("Configuration", digest, True)
    assert Path("c").is_dir()


def _digest(address: str) -> str:
    from urllib.request import Request, urlopen

    accept = {"Accept": "application/vnd.oci.image.manifest.v1+json"}
    with urlopen(Request(f"http://{address}/v2/acme/home/manifests/v3.0.0", headers=accept)) as answer:
        return str(answer.headers["Docker-Content-Digest"])


def test_a_dependency_that_is_there_gets_the_new_version_and_keeps_its_comments(
    dependency: Run, packages: str
) -> None:
    assert dependency("add", f"{packages}/acme/lamps:v1.0.0")[0] == 0
    file = Path("crossplane-project.yaml")
    file.write_text(file.read_text().replace("version: v1.0.0", "version: v1.0.0 # not 1.1!"))
    before = file.read_text()
    assert dependency("add", f"{packages}/acme/lamps:v1.2.0")[0] == 0
    assert file.read_text() == before.replace("v1.0.0", "v1.2.0")


def test_models_are_generated_of_all_kinds_that_packages_bring(dependency: Run, packages: str) -> None:
    code, _, err = dependency("add", f"{packages}/acme/home:v3.0.0")
    assert code == 0, err
    read = (
        "from models.acme_test_v1alpha2 import Lamp; print(Lamp.from_dict({'spec': {'watt': 5}}).spec.watt)"
    )
    ran = subprocess.run([sys.executable, "-c", read], cwd="schemas/python", capture_output=True, text=True)
    assert ran.stdout == "5\n", ran.stderr
    index = json.loads(Path("schemas/json/index.schema.json").read_text())
    (schema,) = [schema_reference["$ref"] for schema_reference in index["oneOf"]]
    assert json.loads(Path("schemas/json", schema).read_text())["properties"]["spec"]["properties"]["watt"]


def test_the_cache_is_brought_up_to_date_and_emptied(dependency: Run, packages: str, tmp_path: Path) -> None:
    cache = tmp_path / "home/.crossplane/cache"
    assert dependency("add", f"{packages}/acme/home:v3.0.0")[0] == 0
    stale = next(cache.rglob("*/home@v3.0.0/package.yaml"))
    stale.write_text("stale")
    code, out, err = dependency("update-cache")
    assert code == 0, err
    assert out == "wrote schemas/python\nwrote schemas/json\nwrote schemas/kcl\n"
    sentence = "no models of the kinds of Kubernetes itself are generated for"
    assert [line for line in err.splitlines() if line.startswith(sentence)] == [
        f"{sentence} python",
        f"{sentence} json",
    ]
    assert stale.read_text() != "stale"
    assert dependency("clean-cache", "--keep-packages")[:2] == (0, "Schema cache cleaned\n")
    assert (Path("schemas").exists(), stale.exists()) == (False, True)
    assert dependency("clean-cache")[0] == 0
    assert not cache.exists()


def test_languages_can_be_chosen_and_unsupported_ones_are_reported(dependency: Run, packages: str) -> None:
    file = Path("crossplane-project.yaml")
    file.write_text(file.read_text() + "  schemas: {languages: [python, go]}\n")
    assert dependency("add", f"{packages}/acme/lamps")[0] == 0
    code, out, err = dependency("update-cache")
    assert (code, out) == (0, "wrote schemas/python\n")
    assert err.endswith("no models are generated for go\n")
    assert [path.name for path in Path("schemas").iterdir()] == ["python"]


def test_a_project_may_rewrite_images_to_a_mirror(dependency: Run, packages: str) -> None:
    file = Path("crossplane-project.yaml")
    file.write_text(
        f"{PROJECT}  imageConfigs:\n  - spec:\n      matchImages: [{{type: Prefix, prefix: registry.test}}]\n"
        f"      rewriteImage: {{prefix: '{packages}'}}\n"
    )
    assert dependency("add", "registry.test/acme/home", "--cache-dir=c")[0] == 0
    assert load(file.read_text())["spec"]["dependencies"][1]["xpkg"]["package"] == "registry.test/acme/home"
    assert Path("c/registry.test/acme/home@v3.0.0/package.yaml").exists()


def test_another_dependency_that_cannot_be_had_does_not_stop_a_new_one(
    dependency: Run, packages: str
) -> None:
    missing = f"{{apiVersion: a, kind: Provider, package: {packages}/acme/gone, version: v1}}"
    file = Path("crossplane-project.yaml")
    text = file.read_text()
    file.write_text(
        text.replace("  architectures", f"    - {{type: xpkg, xpkg: {missing}}}\n  architectures")
    )
    code, _, err = dependency("add", f"{packages}/acme/lamps:v1.0.0")
    assert code == 0
    assert "models were not generated" in err
    assert len(load(file.read_text())["spec"]["dependencies"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["REGISTRY/acme/lamps:v9.9.9"], "cannot download package REGISTRY/acme/lamps:v9.9.9"),
        (["REGISTRY/acme/lamps:>=v7"], "cannot resolve REGISTRY/acme/lamps:>=v7: no version"),
        (["REGISTRY/acme/lonely:v1.0.0"], "cannot add transitive dependency REGISTRY/acme/nothing"),
        (["registry.test/UPPER:v1"], "could not parse reference: registry.test/UPPER"),
        (["registry.test/x@sha256:12"], "unsupported digest"),
        (["k8s:"], "k8s version is required (e.g., k8s:v1.33.0)"),
        (["k8s:v1.33.0", "--api-only"], "--api-only is only valid for xpkg dependencies"),
        (["registry.test/x:v1", "--git-path=crds"], "--git-path is only valid for git dependencies"),
        (["/nowhere/at/all", "--git-ref=main"], "failed to clone repository /nowhere/at/all"),
        (["--", "http://127.0.0.1:1/crd.yaml"], "failed to fetch URL: http://127.0.0.1:1/crd.yaml"),
    ],
)
def test_an_unavailable_package_is_reported_and_nothing_changes(
    dependency: Run, packages: str, words: list[str], message: str
) -> None:
    code, _, err = dependency("add", *(word.replace("REGISTRY", packages) for word in words))
    assert code == 1
    assert message.replace("REGISTRY", packages) in err
    assert Path("crossplane-project.yaml").read_text() == PROJECT
    assert not Path("schemas").exists()


def test_the_error_has_the_reason_and_the_hint_has_the_remedy(dependency: Run, packages: str) -> None:
    _, _, err = dependency("add", f"{packages}/acme/lamps:v9.9.9")
    hint = next(line for line in err.splitlines() if line.startswith("crossply: try: "))
    error = err.splitlines()[-1]
    assert "MANIFEST_UNKNOWN" in error
    assert "MANIFEST_UNKNOWN" not in hint
    assert "check the repository and the tag" in hint


def test_a_file_with_more_than_a_project_is_left_alone(dependency: Run) -> None:
    several = f"{PROJECT}---\nkind: Other\n"
    Path("crossplane-project.yaml").write_text(several)
    code, _, err = dependency("add", "k8s:v1.33.0")
    assert code == 1
    assert "the project file holds more than a project" in err
    assert Path("crossplane-project.yaml").read_text() == several


def test_without_a_project_nothing_can_be_added(crossply: Run) -> None:
    for words in (["add", "k8s:v1.33.0"], ["update-cache"], ["clean-cache"]):
        code, _, err = crossply("dependency", *words)
        assert code == 1
        assert 'failed to read project file "crossplane-project.yaml"' in err


def test_cleaning_never_removes_a_directory_that_is_no_cache(dependency: Run, tmp_path: Path) -> None:
    Path("schemas").mkdir()
    for directory in (".", "..", "/"):
        code, _, err = dependency("clean-cache", f"--cache-dir={directory}")
        assert code == 1
        assert "will not remove" in err
    file = Path("crossplane-project.yaml")
    file.write_text(f"{PROJECT}  paths: {{schemas: ..}}\n")
    code, _, err = dependency("clean-cache", "--keep-packages")
    assert code == 1
    assert 'schemas path ".." is not below the project' in err
    assert Path("schemas").is_dir()


def test_a_link_does_not_have_a_folder_elsewhere_replaced(
    dependency: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    victim = tmp_path_factory.mktemp("victim")
    (victim / "python").mkdir()
    (victim / "python" / "kept").write_text("mine")
    Path("schemas").symlink_to(victim)
    for words in (("clean-cache", "--keep-packages"), ("update-cache",)):
        code, _, err = dependency(*words)
        assert code == 1
        assert 'schemas path "schemas" is not below the project' in err
    assert (victim / "python" / "kept").read_text() == "mine"

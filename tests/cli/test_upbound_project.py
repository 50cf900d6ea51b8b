"""The commands of projects work in the folder of an upbound.yaml, and keep to its spelling."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from crossply.xpkg.archive_reader import read_tagged
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.package_yaml import read
from crossply.xpkg.runtime_requirements import FUNCTION
from tests.support.cli.command import Run
from tests.support.cli.package_server import empty_wheel
from tests.support.cli.project import COMPOSITION, XRD, push_bases
from tests.support.cli.render_bench import Bench, composition, step
from tests.support.images import package
from tests.support.programs import needs
from tests.support.registry import docker_registry, pushed

pytestmark = pytest.mark.xdist_group("registry")
PROJECT = """\
apiVersion: meta.dev.upbound.io/v1alpha1
kind: Project
metadata:
  name: shop
spec:
  repository: registry.test/team/shop
  # What we build on.
  dependsOn:
  - function: xpkg.upbound.io/crossplane-contrib/function-auto-ready # the older spelling
    version: '>=v0.0.0'
  license: Apache-2.0
"""
TEMPLATE = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: templates
data:
  by: templates of {{ .observed.composite.resource.metadata.name }}
"""
PROVIDER = b"apiVersion: meta.pkg.crossplane.io/v1\nkind: Provider\nmetadata: {name: lamps}\nspec: {}\n"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("packages")) as address:
        for version in ("v1.0.0", "v1.2.0"):
            pushed(address, package(PROVIDER), f"acme/lamps:{version}")
        yield address


def test_its_functions_and_those_it_depends_on_are_rendered(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("upbound.yaml", yaml.safe_load(PROJECT))
    bench.write("functions/draw/compose.yaml.gotmpl", TEMPLATE)
    ready = step("ready", "crossplane-contrib-function-auto-ready")
    bench.write("composition.yaml", composition(step("draw", "team-shopdraw"), ready))
    done = bench.run("xr.yaml", "composition.yaml")
    assert done.returncode == 0, done.stderr.decode()
    assert "by: templates of app" in done.stdout.decode()


def test_it_is_built_into_a_configuration_with_its_listed_dependencies(crossply: Run) -> None:
    for name, text in {
        "upbound.yaml": PROJECT,
        "apis/shops/definition.yaml": XRD,
        "apis/shops/composition.yaml": COMPOSITION,
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    assert crossply("project", "build")[0] == 0
    [(name, image)] = read_tagged("_output/shop.xpkg").items()
    meta = read(stream_of(image)).meta
    assert name == "registry.test/team/shop:configuration"
    assert meta["metadata"]["annotations"]["meta.crossplane.io/license"] == "Apache-2.0"
    assert meta["spec"] == {
        "dependsOn": [
            {
                "apiVersion": "pkg.crossplane.io/v1",
                "kind": "Function",
                "package": "xpkg.upbound.io/crossplane-contrib/function-auto-ready",
                "version": ">=v0.0.0",
            }
        ]
    }


@needs("docker-registry")
def test_a_package_that_is_added_is_noted_in_its_own_list(crossply: Run, registry: str) -> None:
    file = Path("upbound.yaml")
    file.write_text(PROJECT)
    assert crossply("dependency", "add", f"{registry}/acme/lamps:v1.0.0")[0] == 0
    added = f"""\
  - apiVersion: pkg.crossplane.io/v1
    kind: Provider
    package: {registry}/acme/lamps
    version: v1.0.0
"""
    assert file.read_text() == PROJECT.replace("  license", f"{added}  license")
    assert crossply("dependency", "add", f"{registry}/acme/lamps:v1.2.0")[0] == 0
    assert file.read_text() == PROJECT.replace("  license", f"{added}  license").replace("v1.0.0", "v1.2.0")


@needs("docker-registry")
def test_the_older_spelling_of_a_package_is_replaced(crossply: Run, registry: str) -> None:
    file = Path("upbound.yaml")
    older = f"{PROJECT}".replace(
        "  license", f"  - provider: {registry}/acme/lamps\n    version: v1.0.0\n  license"
    )
    file.write_text(older)
    assert crossply("dependency", "add", f"{registry}/acme/lamps:v1.2.0")[0] == 0
    assert yaml.safe_load(file.read_text())["spec"]["dependsOn"][1:] == [
        {
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": "Provider",
            "package": f"{registry}/acme/lamps",
            "version": "v1.2.0",
        }
    ]


def test_another_api_is_noted_among_apis(crossply: Run) -> None:
    file = Path("upbound.yaml")
    file.write_text(PROJECT.replace(PROJECT[PROJECT.index("  # What") : PROJECT.index("  license")], ""))
    assert crossply("dependency", "add", "k8s:v1.33.0")[0] == 0
    spec = yaml.safe_load(file.read_text())["spec"]
    assert spec["apiDependencies"] == [{"type": "k8s", "k8s": {"version": "v1.33.0"}}]


def test_kinds_of_kubernetes_have_models_as_soon_as_they_are_added(crossply: Run) -> None:
    file = Path("upbound.yaml")
    file.write_text(PROJECT.replace(PROJECT[PROJECT.index("  # What") : PROJECT.index("  license")], ""))
    assert crossply("dependency", "add", "k8s:v1.33.0")[0] == 0
    assert "class ConfigMap" in Path(".up/python/models/io/k8s/api/core/v1.py").read_text()
    assert "schema ConfigMap" in "".join(
        path.read_text() for path in Path(".up/kcl/models/io/k8s/api/core/v1").glob("*.k")
    )
    code, _, err = crossply("dependency", "update-cache")
    assert code == 0
    assert [line for line in err.splitlines() if line.startswith("no models of the kinds")] == [
        "no models of the kinds of Kubernetes itself are generated for json"
    ]


@needs("docker-registry")
def test_a_package_for_its_kinds_only_has_no_place(crossply: Run, registry: str) -> None:
    Path("upbound.yaml").write_text(PROJECT)
    code, _, err = crossply("dependency", "add", f"{registry}/acme/lamps:v1.0.0", "--api-only")
    assert (code, "has no field for a package that is needed for its kinds only" in err) == (1, True)
    assert Path("upbound.yaml").read_text() == PROJECT


def test_the_project_file_of_crossplane_comes_first(crossply: Run) -> None:
    Path("upbound.yaml").write_text("kind: Other\n")
    Path("apis").mkdir()
    Path("crossplane-project.yaml").write_text(
        PROJECT.replace("meta.dev.upbound.io", "dev.crossplane.io").replace("name: shop", "name: first")
    )
    assert 'Built project "first"' in crossply("project", "build")[1]


@needs("docker-registry")
def test_a_function_in_python_is_built_with_the_models_that_it_imports(
    crossply: Run, registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(push_bases(registry))
    mirror = f"""\
  architectures: [amd64]
  imageConfig:
  - matchImages: [{{prefix: gcr.io/}}]
    rewriteImage: {{prefix: "{registry}/mirror/"}}
"""
    main = "from .model.test.acme.shop import v1\n\ndef compose(req, rsp):\n    v1.Shop()\n"
    definition = XRD.replace("versions: []", VERSIONS)
    files = {"upbound.yaml": PROJECT + mirror, "apis/definition.yaml": definition}
    for name, text in {**files, "functions/shop/main.py": main}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    Path("functions/shop/model").symlink_to("../../.up/python/models")
    (tmp_path / "wheels").mkdir()
    for name in FUNCTION.requirements:
        empty_wheel(tmp_path / "wheels", name.replace("-", "_"), "1.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    code, _, err = crossply("project", "build")
    assert code == 0, err
    (tmp_path / "root").mkdir()
    unpack(read_tagged("_output/shop.xpkg")["registry.test/team/shop_shop:amd64"], str(tmp_path / "root"))
    [source] = (tmp_path / "root").rglob("function_of_project/source")
    assert sorted(str(path.relative_to(source)) for path in source.rglob("*.py")) == [
        "main.py",
        "model/io/k8s/apimachinery/pkg/apis/meta/v1.py",
        "model/test/acme/shop/v1.py",
    ]


@pytest.mark.parametrize(
    ("program", "missing"),
    [
        ("from .model.test.acme.shop import v1\n", ""),
        ("from .model.test.acme.shop import v2\n", "model.test.acme.shop.v2"),
        ("from .model.test.acme.shop.v2 import Shop\n", "model.test.acme.shop.v2"),
        ("from .model.io.upbound.aws.s3 import v1beta1\n", "model.io.upbound.aws.s3"),
        ("try:\n    from .model.io.upbound import v1\nexcept ImportError:\n    pass\n", ""),
        ("from . import absent\nfrom .modelling import gone\n", ""),
    ],
)
def test_a_function_in_python_whose_models_are_missing_is_not_built(
    crossply: Run, program: str, missing: str
) -> None:
    definition = XRD.replace("versions: []", VERSIONS)
    files = {"upbound.yaml": PROJECT, "apis/definition.yaml": definition, "functions/shop/main.py": program}
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    Path("functions/shop/model").symlink_to("../../.up/python/models")
    code, _, err = crossply("project", "build")
    assert code == 1, "the base image cannot be fetched"
    if missing:
        assert f'failed to build function "shop": it imports modules that do not exist: {missing}\n' in err
        assert "crossply dependency update-cache" in err
    else:
        assert "failed to fetch the base image" in err


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({"main.py": "from .model.test.acme.shop import v1\n"}, "model.test.acme.shop"),
        ({"main.py": "from . import help\n", "help.py": "from .model import io\n"}, "model"),
        ({"main.py": "from .model import io\n", "model.py": "io = 1\n"}, ""),
        ({"main.py": "from model.layers import v1\n"}, ""),
        ({"main.py": "try:\n    from .model.io import v1\nexcept ImportError:\n    pass\n"}, ""),
    ],
)
def test_a_function_in_python_without_the_link_to_its_models_is_not_built(
    crossply: Run, files: dict[str, str], missing: str
) -> None:
    project = {"upbound.yaml": PROJECT, "apis/definition.yaml": XRD.replace("versions: []", VERSIONS)}
    functions = {f"functions/shop/{name}": text for name, text in files.items()}
    for name, text in {**project, **functions}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    code, _, err = crossply("project", "build")
    assert code == 1, "the base image cannot be fetched"
    if missing:
        assert f'failed to build function "shop": it imports modules that do not exist: {missing}\n' in err
        assert "make the link to the models of kinds: ln -s ../../.up/python/models " in err
        assert "functions/shop/model\n" in err
    else:
        assert "failed to fetch the base image" in err


@pytest.mark.parametrize(
    ("file", "head", "field"),
    [
        ("upbound.yaml", "meta.dev.upbound.io/v2alpha1", "imageConfig: [{%s}]"),
        (
            "crossplane-project.yaml",
            "dev.crossplane.io/v1alpha1",
            "imageConfigs: [{metadata: {name: m}, spec: {%s}}]",
        ),
    ],
)
def test_a_base_image_that_cannot_be_fetched_has_a_hint_to_redirect_it(
    crossply: Run, file: str, head: str, field: str
) -> None:
    mirror = field % "matchImages: [{prefix: gcr.io/}], rewriteImage: {prefix: r.invalid/}"
    spec = f"spec:\n  repository: registry.test/team/shop\n  {mirror}\n"
    project = f"apiVersion: {head}\nkind: Project\nmetadata: {{name: shop}}\n{spec}"
    definition = XRD.replace("versions: []", VERSIONS)
    files = {file: project, "apis/definition.yaml": definition, "functions/shop/main.py": ""}
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    code, _, err = crossply("project", "build")
    assert code == 1
    assert "failed to fetch the base image r.invalid/distroless/python3-debian13:nonroot: " in err
    assert f"spec.{field.partition(':')[0]} of the project file redirects" in err
    assert "CP-925" in err


VERSIONS = (
    "versions: [{name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object}}}]"
)

"""A project may depend on CRDs of a git repository, and on those behind a URL."""

from __future__ import annotations

import base64
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from crossply.values.yaml import load
from tests.support.cli.command import Run
from tests.support.programs import path_of

PROJECT = """\
apiVersion: dev.crossplane.io/v1alpha1
kind: Project
metadata:
  name: platform # ours
spec:
  repository: registry.test/team/platform
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.acme.test}
spec:
  group: acme.test
  names: {kind: Lamp, plural: lamps}
  scope: Cluster
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""
CRD_HEAD = "kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1"


class Site:
    """A web server: what it serves by path, and the logins it was shown."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.logins: list[str] = []
        self.address = ""


@pytest.fixture
def site() -> Iterator[Site]:
    file_site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            file_site.logins.append(self.headers.get("Authorization", ""))
            text = file_site.pages.get(self.path)
            self.send_response(404 if text is None else 200)
            self.end_headers()
            self.wfile.write((text or "").encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    file_site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield file_site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def dependency(crossply: Run) -> Run:
    Path("crossplane-project.yaml").write_text(PROJECT)
    return lambda *words: crossply("dependency", *words)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with a CRD, a template that is no YAML, and a link that leads out of it."""
    folder = tmp_path / "origin"
    (folder / "crds").mkdir(parents=True)
    (folder / "crds/lamp.yaml").write_text(CRD)
    (folder / "crds/chart.yaml").write_text("{{ if .x }}\n: no\n")
    (folder / "crds/out.yaml").symlink_to(tmp_path / "outside.yaml")
    (tmp_path / "outside.yaml").write_text(CRD.replace("Lamp", "Secret"))
    (folder / "empty").mkdir()
    (folder / "empty/note.yaml").write_text("just: a note\n")
    git_identity = ["-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "commit.gpgsign=false"]
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        [*git_identity, "commit", "-qm", "first"],
        ["tag", "v1"],
    ):
        subprocess.run([path_of("git"), *words], cwd=folder, check=True)
    return folder


def entries() -> list[object]:
    text = Path("crossplane-project.yaml").read_text()
    assert text.startswith(PROJECT)
    return list(load(text)["spec"].get("dependencies") or [])


def test_crds_behind_a_url(dependency: Run, site: Site) -> None:
    site.pages["/lamps.yaml"] = CRD
    url = f"{site.address}/lamps.yaml"
    code, _, err = dependency("add", url)
    assert code == 0, err
    assert entries() == [{"type": "crd", "http": {"url": url}}]
    assert "class Lamp:" in Path("schemas/python/models/acme_test_v1.py").read_text()


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (None, "HTTP Error 404"),
        ("just: a note\n", "no CompositeResourceDefinition or CustomResourceDefinition in http://"),
        ("a: b: c\n", "cannot read http://"),
    ],
)
def test_a_url_without_crds_is_no_dependency(
    dependency: Run, site: Site, page: str | None, message: str
) -> None:
    site.pages = {} if page is None else {"/x": page}
    code, _, err = dependency("add", f"{site.address}/x")
    assert code == 1
    assert message in err
    assert entries() == []


@pytest.mark.parametrize("languages", ["[json]", "[python]"])
@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("{kind: CustomResourceDefinition}", "no CompositeResourceDefinition or CustomResource"),
        (f"{{{CRD_HEAD}}}", 'the definition "" does not define a kind: it lacks spec.group, spec.versions'),
        (f"{{{CRD_HEAD}, spec: {{group: a, names: {{kind: B}}}}}}", "it lacks spec.versions"),
        (f"{{{CRD_HEAD}, spec: {{group: a, versions: [{{name: v1}}]}}}}", "it lacks spec.names.kind"),
        (f"{{{CRD_HEAD}, spec: {{group: a, names: {{kind: B}}, versions: [{{}}]}}}}", "spec.versions.name"),
        (f"{{{CRD_HEAD}, spec: 5}}", "cannot unmarshal"),
        ("{kind: CompositeResourceDefinition, apiVersion: apiextensions.crossplane.io/v2}", "lacks spec"),
    ],
)
def test_a_source_without_kinds_is_no_dependency(
    dependency: Run, site: Site, languages: str, definition: str, message: str
) -> None:
    text = f"{PROJECT}  schemas: {{languages: {languages}}}\n"
    Path("crossplane-project.yaml").write_text(text)
    site.pages["/x"] = definition
    code, _, err = dependency("add", f"{site.address}/x")
    assert code == 1
    assert message in err
    assert Path("crossplane-project.yaml").read_text() == text


def test_files_of_this_machine_are_no_urls(dependency: Run, tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(CRD)
    Path("crossplane-project.yaml").write_text(
        f"{PROJECT}  dependencies:\n  - {{type: crd, http: {{url: 'file://{tmp_path}/crd.yaml'}}}}\n"
    )
    code, _, err = dependency("update-cache")
    assert code == 1
    assert "unsupported URL scheme: file" in err


@pytest.mark.parametrize("ref", ["main", "v1", "COMMIT"])
def test_crds_of_a_git_repository(dependency: Run, repository: Path, ref: str) -> None:
    if ref == "COMMIT":
        ref = subprocess.check_output(
            [path_of("git"), "rev-parse", "HEAD"], cwd=repository, text=True
        ).strip()
    code, _, err = dependency("add", str(repository), f"--git-ref={ref}", "--git-path=crds")
    assert code == 0, err
    git = {"repository": str(repository), "ref": ref, "path": "crds"}
    assert entries() == [{"type": "crd", "git": git}]
    models = Path("schemas/python/models/acme_test_v1.py").read_text()
    assert ("class Lamp:" in models, "class Secret:" in models) == (True, False)
    assert dependency("update-cache")[1] == "wrote schemas/python\nwrote schemas/json\nwrote schemas/kcl\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--git-ref=other"], "couldn't find remote ref other"),
        (["--git-ref=main", "--git-path=nowhere"], "cannot read cloned path nowhere"),
        (["--git-ref=main", "--git-path=../.."], "leads out of the repository"),
        (["--git-ref=main", "--git-path=empty"], "no CompositeResourceDefinition"),
        (["--git-ref=--upload-pack=touch x"], "is neither a repository nor a ref"),
    ],
)
def test_a_path_missing_from_a_repository_is_reported(
    dependency: Run, repository: Path, words: list[str], message: str
) -> None:
    code, _, err = dependency("add", str(repository), *words)
    assert code == 1
    assert message in err
    assert entries() == []


def test_without_git_there_is_a_hint(
    dependency: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = dependency("add", "https://git.test/x", "--git-ref=main")
    assert code == 1
    assert "the program git is not there" in err
    assert "install git" in err


def test_a_program_is_no_transport(dependency: Run, tmp_path: Path) -> None:
    assert dependency("add", f"ext::touch {tmp_path}/run", "--git-ref=main")[0] == 1
    assert not (tmp_path / "run").exists()


def test_a_token_is_shown_to_the_git_server(dependency: Run, site: Site) -> None:
    file = Path("crossplane-project.yaml")
    file.write_text(
        f"{PROJECT}  dependencies:\n  - {{type: crd, git: {{repository: '{site.address}/x', ref: main}}}}\n"
    )
    flags = ("--git-token=geheim", "--git-username=bot")
    host = site.address.partition("://")[2]
    code, _, err = dependency("update-cache", *flags, f"--git-host={host}")
    assert code == 1
    assert "geheim" not in err
    assert set(site.logins) == {f"Basic {base64.b64encode(b'bot:geheim').decode()}"}


def test_a_token_is_not_shown_to_a_host_that_only_the_project_names(dependency: Run, site: Site) -> None:
    file = Path("crossplane-project.yaml")
    file.write_text(
        f"{PROJECT}  dependencies:\n  - {{type: crd, git: {{repository: '{site.address}/x', ref: main}}}}\n"
    )
    assert dependency("update-cache", "--git-token=geheim", "--git-username=bot")[0] == 1
    assert not [login for login in site.logins if login]

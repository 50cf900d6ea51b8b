"""The parts of the image: packages of Debian as files, a bill of materials, an archive."""

from __future__ import annotations

import io
import json
import re
import tarfile
from pathlib import Path

import pytest
from distribution import debian_lock, sbom
from distribution.base_image import DebianPackage, from_debian, from_path
from distribution.debian_archive import read_package
from distribution.debian_lock import PACKAGES, Package, fetch, read_lock
from distribution.installed_site import with_parents
from distribution.oci_archive import write_oci_archive

from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.image import digest
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.layer_writer import Entry
from tests.support.paths import ROOT

CONTROL = "Package: acme\nVersion: 1.0-1\nMaintainer: Acme <acme@example.org>\n"
FILES = {
    "./usr/share/ca-certificates/one.crt": b"ONE",
    "./usr/share/ca-certificates/two.crt": b"TWO\n",
    "./usr/share/doc/acme/copyright": b"free",
    "./usr/share/doc/acme/changelog.gz": b"long",
    "./usr/share/man/man1/acme.1": b"manual",
    "./usr/bin/acme": b"program",
}


def tarball(files: dict[str, bytes], **links: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o4755
            tar.addfile(info, io.BytesIO(data))
        for name, target in links.items():
            info = tarfile.TarInfo(f"./{name}")
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
    return buffer.getvalue()


def debian_file() -> bytes:
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": tarball({"./control": CONTROL.encode()}),
        "data.tar.xz": tarball(FILES, bin="usr/bin"),
    }
    parts = [b"!<arch>\n"]
    for name, data in members.items():
        parts.append(f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode())
        parts.append(data + b"\n" * (len(data) % 2))
    return b"".join(parts)


@pytest.fixture
def package() -> DebianPackage:
    pinned = Package("acme", "1.0-1", "debian", "pool/acme.deb", "0" * 64)
    return DebianPackage(pinned, read_package(debian_file()))


def test_a_package_of_debian_has_its_files_without_manuals_and_privileges(package: DebianPackage) -> None:
    entries = {entry.name: entry for entry in package.files.entries}
    assert set(entries) == {
        "usr/share/ca-certificates/one.crt",
        "usr/share/ca-certificates/two.crt",
        "usr/share/doc/acme/copyright",
        "usr/bin/acme",
        "bin",
    }
    assert entries["usr/bin/acme"].mode == 0o755
    assert entries["bin"].link == "usr/bin"
    assert package.files.control == CONTROL


def test_the_base_has_the_files_of_an_installation(package: DebianPackage, tmp_path: Path) -> None:
    image = from_debian([package], "arm64")
    unpack(image, str(tmp_path))
    assert (tmp_path / "etc/ssl/certs/ca-certificates.crt").read_text() == "ONE\nTWO\n"
    assert (tmp_path / "var/lib/dpkg/status.d/acme").read_text() == CONTROL
    assert "nonroot:x:65532:65532" in (tmp_path / "etc/passwd").read_text()
    assert image.config["architecture"] == "arm64"
    assert digest(from_debian([package], "arm64")) == digest(image)


def test_a_root_file_system_is_a_base(tmp_path: Path) -> None:
    (tmp_path / "root/usr/bin").mkdir(parents=True)
    (tmp_path / "root/usr/bin/tool").write_text("#!")
    (tmp_path / "root/bin").symlink_to("usr/bin")
    (tmp_path / "other").mkdir()
    unpack(from_path(str(tmp_path / "root"), "amd64"), str(tmp_path / "other"))
    assert (tmp_path / "other/bin/tool").read_text() == "#!"


def test_the_archive_is_an_image_that_is_always_the_same(package: DebianPackage, tmp_path: Path) -> None:
    image = from_debian([package], "amd64")
    paths = [str(tmp_path / name) for name in ("one.tar", "two.tar")]
    digests = [write_oci_archive(image, "crossply", "1.0", path) for path in paths]
    assert digests == [digest(image)] * 2
    assert Path(paths[0]).read_bytes() == Path(paths[1]).read_bytes()
    assert digest(read_archive(paths[0])) == digests[0]
    with tarfile.open(paths[0]) as tar:
        index = json.load(tar.extractfile("index.json"))
    assert index["manifests"][0]["digest"] == digests[0]


def test_directories_come_before_their_content() -> None:
    entries = [Entry("opt/a/two"), Entry("opt/a/one"), Entry("etc/x")]
    names = [entry.name for entry in with_parents(entries)]
    assert names == ["etc/", "etc/x", "opt/", "opt/a/", "opt/a/one", "opt/a/two"]


def test_the_bill_of_materials_names_every_package_and_its_license(
    package: DebianPackage, tmp_path: Path
) -> None:
    info = tmp_path / "Acme_Words-1.0.dist-info"
    info.mkdir()
    metadata = "Metadata-Version: 2.4\nName: Acme.Words\nVersion: 1.0\nLicense-Expression: MIT\n"
    (info / "METADATA").write_text(metadata)
    bill = sbom.bill(str(tmp_path), [package], 1_700_000_000, "amd64", "13")
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    debian, python = bill["components"]
    assert debian["purl"] == "pkg:deb/debian/acme@1.0-1?arch=amd64&distro=debian-13"
    assert debian["supplier"] == {"name": "Acme"}
    assert (python["purl"], python["licenses"]) == ("pkg:pypi/acme-words@1.0", [{"expression": "MIT"}])
    assert {entry["ref"] for entry in bill["dependencies"]} > {debian["bom-ref"], python["bom-ref"]}
    assert sbom.bill(str(tmp_path), [package], 1_700_000_000, "amd64", "13") == bill


def test_every_package_of_the_base_is_pinned_for_both_architectures() -> None:
    lock = read_lock()
    assert set(lock.packages) == {"amd64", "arm64"}
    for packages in lock.packages.values():
        assert {package.name for package in packages} == set(PACKAGES)
        assert all(re.fullmatch("[0-9a-f]{64}", package.sha256) for package in packages)


def test_a_package_with_another_hash_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(debian_lock, "CACHE", str(tmp_path))
    monkeypatch.setattr(debian_lock, "download", lambda _: b"something else")
    with pytest.raises(SystemExit, match="does not have the pinned hash"):
        fetch(Package("acme", "1", "debian", "pool/acme.deb", "0" * 64), "20260101T000000Z")
    assert not list(tmp_path.iterdir())


def test_the_image_has_the_versions_that_everything_is_tested_with() -> None:
    image, dev = (pins(f"requirements/{name}.txt") for name in ("image", "dev"))
    assert {*pins("requirements/otel.txt"), *pins("requirements/kcl.txt")} == set(image)
    assert {name: dev[name] for name in image if name in dev} == {
        name: image[name] for name in image if name in dev
    }


def pins(path: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / path).read_text(), re.M))

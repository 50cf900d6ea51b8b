"""Containers that run to completion: bytes in, bytes out."""

from __future__ import annotations

import tarfile
import threading

import pytest

from crossply.containers.failures import ContainerError, OutOfMemory, OutputTooLarge, TookTooLong
from crossply.containers.image_store import Store, StoredImage
from crossply.containers.run_to_completion import run_once
from crossply.containers.settings import MEBIBYTE, Limits, Settings
from crossply.xpkg.image import digest
from tests.support.container_images import go_image, with_program
from tests.support.images import archive, image, member

pytestmark = pytest.mark.xdist_group("containers")


def settings(engine: str, word: str, **rest: object) -> Settings:
    return Settings(engine=engine, arguments=(word,))._replace(**rest)


def test_output_equals_input(engine: str, function: StoredImage) -> None:
    data = bytes(range(256)) * 8192  # more than any pipe holds
    finished = run_once(function, data, settings(engine, "echo"))
    assert (finished.stdout, finished.stderr, finished.status) == (data, "", 0)


def test_a_failure_has_its_status_and_last_lines(engine: str, function: StoredImage) -> None:
    finished = run_once(function, b"not read", settings(engine, "fail"))
    assert (finished.stdout, finished.stderr, finished.status) == (b"", "it went wrong\n", 7)


def test_several_run_at_once(engine: str, function: StoredImage) -> None:
    answers: dict[int, bytes] = {}

    def run(number: int) -> None:
        answers[number] = run_once(function, b"%d" % number, settings(engine, "echo")).stdout

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: b"%d" % number for number in range(8)}


def test_an_endless_function_is_killed(engine: str, function: StoredImage) -> None:
    with pytest.raises(TookTooLong, match=r"the function was ended: it took longer than 0\.5 s"):
        run_once(function, b"", settings(engine, "hang", timeout=0.5))


def test_a_function_that_writes_a_gibibyte_is_killed(engine: str, function: StoredImage) -> None:
    with pytest.raises(OutputTooLarge, match="the function was ended: it wrote more than 1048576 bytes"):
        run_once(function, b"", settings(engine, "huge", largest_output=MEBIBYTE))


def test_a_function_that_allocates_64_gigabytes_is_killed(engine: str, function: StoredImage) -> None:
    limits = Limits(memory=64 * MEBIBYTE)
    with pytest.raises(OutOfMemory, match="the function was killed: it exceeded its 64 MiB"):
        run_once(function, b"", settings(engine, "hog", limits=limits))
    assert run_once(function, b"well", settings(engine, "echo", limits=limits)).stdout == b"well"


def test_an_image_without_its_program_is_reported(engine: str, store: Store) -> None:
    broken_image = go_image(Entrypoint=["/missing"])
    with pytest.raises(
        ContainerError, match=r"^the container could not be started: .*/missing.*[nN]o such file"
    ):
        run_once(store.add(broken_image, digest(broken_image)), b"", Settings(engine=engine))


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"Entrypoint": []}, "neither an entry point nor a command"),
        ({"user": "nonroot"}, "the user 'nonroot', whom its /etc/passwd does not have"),
        ({"user": "1:staff"}, "the group 'staff', which its /etc/group does not have"),
        ({"user": "99999999999"}, "no number of a user or group"),
        (
            {"WorkingDir": "/proc/self/fd/7"},
            "started in /proc/self/fd/7, which is not a directory of its own",
        ),
        ({"WorkingDir": "/dev/../proc/1"}, "started in /proc/1, which is not a directory of its own"),
    ],
)
def test_an_image_that_cannot_be_run_has_a_reason(
    launcher: None, store: Store, config: dict[str, str], reason: str
) -> None:
    container_image = go_image(**config)
    with pytest.raises(ContainerError, match=reason):
        run_once(store.add(container_image, digest(container_image)), b"", Settings())


def test_a_link_does_not_start_it_among_the_files_of_the_engine(engine: str, store: Store) -> None:
    inner = go_image(WorkingDir="/home/function").config
    files = [member("home", type=tarfile.SYMTYPE, linkname="/proc/self/fd"), member("function")]
    container_image = image(archive(files))
    container_image = container_image._replace(config={**inner, "rootfs": container_image.config["rootfs"]})
    with pytest.raises(ContainerError, match="started in /proc/self/fd/function, which is not a directory"):
        run_once(store.add(container_image, digest(container_image)), b"", settings(engine, "echo"))


def test_it_is_started_in_the_working_directory_of_the_image(engine: str, store: Store) -> None:
    container_image = go_image(Entrypoint=["./function"], WorkingDir="/here")
    files = with_program("there/function")
    link = image(archive([member("here", type=tarfile.SYMTYPE, linkname="there")]))
    diff_ids = {"type": "layers", "diff_ids": [*files.diff_ids, *link.diff_ids]}
    container_image = container_image._replace(
        config={**container_image.config, "rootfs": diff_ids}, layers=(*files.layers, *link.layers)
    )
    assert (
        run_once(store.add(container_image, digest(container_image)), b"hi", settings(engine, "echo")).stdout
        == b"hi"
    )

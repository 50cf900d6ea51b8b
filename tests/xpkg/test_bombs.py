"""A package larger than it claims ends at a limit, not at the end of memory."""

from __future__ import annotations

import gzip
import tarfile
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from crossply.xpkg import media_types as media
from crossply.xpkg import package_stream_extraction as contents
from crossply.xpkg.blob_content import in_memory
from crossply.xpkg.failures import BadArchive, TooLarge
from crossply.xpkg.image import Layer
from crossply.xpkg.layer_writer import compress
from crossply.xpkg.package_stream_extraction import NoStream, stream_of
from crossply.xpkg.package_yaml import read
from tests.support.bombs import MIB, bomb, header
from tests.support.images import archive, compress_with_zstd, image, in_zstd, member


@pytest.mark.parametrize(
    "first",
    [
        header("package.yaml", 250 * MIB),
        header("other", 250 * MIB),
        header("x", 250 * MIB, tarfile.GNUTYPE_LONGNAME),
        header("x", 250 * MIB, tarfile.XGLTYPE),
    ],
    ids=["the stream", "another file", "a name", "a header for all"],
)
@pytest.mark.parametrize("pack", [compress, compress_with_zstd], ids=["gzip", "zstd"])
def test_a_bomb_is_not_read_to_its_end(first: tarfile.TarInfo, pack: Callable[[Any, Any], object]) -> None:
    # Only what is not refused by its header has to be long.
    picture = bomb(first, zeros=first.size if first.name == "other" else MIB, pack=pack)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            stream_of(picture)
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("annotations", [{media.ANNOTATION: media.BASE}, {}], ids=["annotated", "searched"])
def test_a_stream_that_is_a_thousand_times_its_layer_is_not_read(annotations: dict[str, str]) -> None:
    picture = bomb(header("package.yaml", 190 * MIB), zeros=190 * MIB)
    picture = picture._replace(
        layers=tuple(layer._replace(annotations=annotations) for layer in picture.layers)
    )
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match="more than 200 times as large as its layer"):
            stream_of(picture)
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("line", [b"---\n", b"---\r\n", b"--- # x\n", b"a: 1\n---\n"])
def test_separators_without_end_take_no_memory(line: bytes) -> None:
    stream = line * (8 * MIB // len(line))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match="more than 20000 documents"):
            read(stream)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 9 * MIB, "no more than the stream with other line ends"


def test_endless_entries_are_not_all_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    many = bomb(*(header(f"{number}", 0) for number in range(5_000)), zeros=1024)
    with pytest.raises(NoStream):
        stream_of(many)
    monkeypatch.setattr(contents, "MAX_ENTRIES", 1_000)
    with pytest.raises(TooLarge, match="more than 1000 entries"):
        stream_of(many)


@pytest.mark.parametrize("pack", [lambda data: gzip.compress(data, mtime=0), in_zstd], ids=["gzip", "zstd"])
@pytest.mark.parametrize("size", [0, 1], ids=["empty", "of one byte"])
def test_a_layer_of_parts_that_hold_nothing_is_not_read_to_its_end(
    pack: Callable[[bytes], bytes], size: int
) -> None:
    plain = archive([member("other", b"x" * 3000)])
    compressed = b"".join(pack(plain[at : at + size]) for at in range(3000))
    layer = Layer(in_memory(compressed), annotations={media.ANNOTATION: media.BASE})
    with pytest.raises(TooLarge, match=r"^the layer is compressed in \d+ parts, most of which are empty"):
        stream_of(image()._replace(layers=(layer,)))


def test_a_layer_of_one_part_for_every_piece_is_read() -> None:
    """Some tools compress every file by itself, so that it can be fetched alone."""
    plain = archive(
        [*(member(f"f{number}", b"x") for number in range(3000)), member("package.yaml", b"a: b")]
    )
    pieces = [gzip.compress(plain[at : at + 512], mtime=0) for at in range(0, len(plain), 512)]
    layer = Layer(in_memory(b"".join(pieces)), annotations={media.ANNOTATION: media.BASE})
    assert stream_of(image()._replace(layers=(layer,))) == b"a: b"


def pax(kind: bytes, body: bytes) -> bytes:
    return header("h", len(body), kind).tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)


@pytest.mark.parametrize(
    ("kind", "records", "count", "sentence"),
    [
        (tarfile.XGLTYPE, 16_000, 5, r"^the layer has headers of \d+ bytes"),
        (tarfile.XHDTYPE, 1, 2000, r"^an entry of the layer has more than 16 headers"),
        (tarfile.XGLTYPE, 1, 2000, r"^an entry of the layer has more than 16 headers"),
        (tarfile.GNUTYPE_LONGNAME, 1, 2000, r"^an entry of the layer has more than 16 headers"),
    ],
    ids=["large global ones", "many", "many global ones", "many names"],
)
def test_headers_upon_headers_are_not_all_read(kind: bytes, records: int, count: int, sentence: str) -> None:
    body = b"".join(f"16 k{number:09d}=v\n".encode() for number in range(records))
    plain = pax(kind, body) * count + archive([member("package.yaml", b"a: b")])
    layer = Layer(in_memory(gzip.compress(plain)), annotations={media.ANNOTATION: media.BASE})
    with pytest.raises(TooLarge, match=sentence):
        stream_of(image()._replace(layers=(layer,)))


def sparse_of_old_gnu(blocks: int, end: bytes = b"") -> bytes:
    """The header of a sparse file whose map goes on for so many blocks, of 21 parts each."""
    first = bytearray(header("package.yaml", 0, tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT))
    first[482] = 1  # the map goes on
    first[148:156] = b" " * 8
    first[148:156] = b"%06o\0 " % sum(first)
    return bytes(first) + (b"00000000001\0" * 42 + b"\1" + bytes(7)) * blocks + end


def sparse_of_pax(parts: int) -> bytes:
    info, data = member("package.yaml", b"%d\n" % parts + b"1\n" * (2 * parts))
    version = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    info.pax_headers = {**version, "GNU.sparse.name": "package.yaml", "GNU.sparse.realsize": "10"}
    return archive([(info, data)])


@pytest.mark.parametrize(
    "plain", [sparse_of_old_gnu(8_192), sparse_of_pax(1 << 20)], ids=["of old GNU", "of PAX"]
)
def test_the_map_of_a_sparse_file_is_not_read_to_its_end(plain: bytes) -> None:
    layer = Layer(in_memory(gzip.compress(plain)), annotations={media.ANNOTATION: media.BASE})
    with pytest.raises(TooLarge, match=r"^an entry of the layer has headers of more than 1048576 bytes"):
        stream_of(image()._replace(layers=(layer,)))


def test_a_map_of_a_sparse_file_that_ends_early_is_damage() -> None:
    layer = Layer(in_memory(gzip.compress(sparse_of_old_gnu(1))), annotations={media.ANNOTATION: media.BASE})
    with pytest.raises(BadArchive, match="the map of a sparse file ends early"):
        stream_of(image()._replace(layers=(layer,)))


def test_a_layer_that_is_named_many_times_counts_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_SEARCHED", 16 * MIB)
    layer = Layer(in_memory(gzip.compress(archive([member("zeros", bytes(MIB))]))))
    with pytest.raises(NoStream):
        stream_of(image()._replace(layers=(layer,) * 10))
    with pytest.raises(TooLarge, match="more than 16777216 bytes, with the layers before it"):
        stream_of(image()._replace(layers=(layer,) * 20))


def test_headers_of_all_layers_are_bounded_together() -> None:
    """Each is small enough, and has to be parsed again for each layer."""
    body = b"1000000 comment=" + b"x" * (1_000_000 - 17) + b"\n"
    layer = Layer(in_memory(gzip.compress(pax(tarfile.XHDTYPE, body) + archive([member("a", b"")]))))
    with pytest.raises(NoStream):
        stream_of(image()._replace(layers=(layer,) * 60))
    with pytest.raises(TooLarge, match="the layers of the image have headers of more than 67108864 bytes"):
        stream_of(image()._replace(layers=(layer,) * 70))

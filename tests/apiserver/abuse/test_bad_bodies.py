"""Bodies that are no objects: the right Status, quickly, and nothing remembered."""

from __future__ import annotations

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, Program

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
MERGE, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
LAUGHS = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b",".join([b"*%c" % (letter - 1)] * 9)) for letter in b"bcdefgh"
)


def _map(value: str, name: str = "bad") -> bytes:
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"},"data":{"a":%s}}'
    return (text % (name, value)).encode("latin-1")


@pytest.mark.parametrize(
    ("content_type", "body", "status", "says"),
    [
        pytest.param(JSON, b"", 400, "unexpected end of JSON input", id="nothing"),
        pytest.param(JSON, b"{", 400, "unexpected end of JSON input", id="cut off"),
        pytest.param(JSON, b"hello", 400, "invalid character 'h'", id="not JSON"),
        pytest.param(JSON, b"[]", 400, "unrecognized", id="a list"),
        pytest.param(JSON, b"\xff\xfe{}", 400, "invalid character", id="not UTF-8"),
        pytest.param(JSON, b"[" * 200_000, 400, "exceeded max depth", id="200,000 open lists"),
        pytest.param(JSON, b'{"a":' * 200_000, 400, "exceeded max depth", id="200,000 open objects"),
        pytest.param(JSON, _map("[" * 5000 + "]" * 5000), 400, "", id="5,000 lists deep"),
        pytest.param(JSON, _map("9" * 1_000_000), 400, "", id="a number of a million digits"),
        pytest.param(JSON, b"[" + b"1," * 1_500_000, 400, "invalid JSON", id="a list of 3 MB cut off"),
        pytest.param(JSON, b'"' + rb"\n" * 1_500_000, 400, "invalid JSON", id="3 MB of escapes cut off"),
        pytest.param(JSON, _map("1e400"), 400, "", id="a number beyond all floats"),
        pytest.param(JSON, _map("NaN"), 400, "invalid character 'N'", id="not a number"),
        pytest.param(JSON, _map('"x"', r"a\u0000b"), 422, "metadata.name", id="NUL in a name"),
        pytest.param(JSON, _map('"x"', ".."), 422, "metadata.name", id="a name of two dots"),
        pytest.param(JSON, _map('"x"', "a/b"), 422, "metadata.name", id="a slash in a name"),
        pytest.param(JSON, _map('"x"', "a" * 300), 422, "metadata.name", id="a name too long"),
        pytest.param(YAML, b"a: [1,2", 400, "did not find expected", id="YAML cut off"),
        pytest.param(YAML, LAUGHS, 400, "excessive aliasing", id="a billion laughs"),
        pytest.param(YAML, b"!!python/object/apply:os.system ['true']", 400, "", id="a tag that runs code"),
        pytest.param(YAML, b"a: " + b"[" * 20_000, 400, "exceeded max depth", id="deep YAML"),
        pytest.param(YAML, b"\0\0", 400, "control characters", id="NUL in YAML"),
        pytest.param(PROTOBUF, b"garbage", 400, "", id="protobuf without its mark"),
        pytest.param(PROTOBUF, b"k8s\0" + b"\xff" * 50, 400, "", id="a varint without an end"),
        pytest.param(PROTOBUF, b"k8s\0\x0a\xff\xff\xff\xff\x7f", 400, "", id="a length beyond the body"),
        pytest.param("text/plain", b"x", 415, "unknown format", id="a text"),
        pytest.param("multipart/form-data", b"x", 415, "unknown format", id="a form"),
    ],
)
def test_a_bad_body_is_refused_with_a_status(
    server: Program, content_type: str, body: bytes, status: int, says: str
) -> None:
    answer = server.ask("POST", CONFIG_MAPS, body, Content_Type=content_type)
    assert (answer.status, answer.json["kind"]) == (status, "Status")
    assert says in answer.message


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        pytest.param(MERGE, b"{", 400, id="a merge patch cut off"),
        pytest.param(MERGE, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 400, id="a deep merge patch"),
        pytest.param(STRATEGIC, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 400, id="a deep strategic patch"),
        pytest.param(JSON_PATCH, b"[", 400, id="a JSON patch cut off"),
        pytest.param(JSON_PATCH, b'[{"op":"nope","path":"/a"}]', 422, id="no such operation"),
        pytest.param(
            JSON_PATCH, b'[{"op":"add","path":"/data/x","value":' + b"[" * 9000, 400, id="deep value"
        ),
        pytest.param(APPLY, b"{", 400, id="an apply cut off"),
        pytest.param(APPLY, b'{"a":' * 5000 + b"1" + b"}" * 5000, 400, id="a deep apply"),
        pytest.param(JSON, b"{}", 415, id="a patch that does not say which kind"),
    ],
)
def test_a_bad_patch_changes_nothing(server: Program, content_type: str, body: bytes, status: int) -> None:
    path = f"{CONFIG_MAPS}/kube-root-ca.crt"
    before = server.ask("GET", path).body
    answer = server.ask("PATCH", f"{path}?fieldManager=me", body, Content_Type=content_type)
    assert (answer.status, answer.json["kind"]) == (status, "Status")
    assert server.ask("GET", path).body == before


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        pytest.param("lone-surrogate", r'"\ud800"', "�", id="half of a surrogate pair is no character"),
        pytest.param("nul", r'"\u0000"', "\0", id="NUL is a character like others"),
        pytest.param("twice", '"x","a":"y"', "y", id="of two members with one name the last counts"),
        pytest.param("latin-1", '"\xff"', "�", id="what is not UTF-8 is replaced"),
    ],
)
def test_odd_strings_are_stored_as_kubernetes_stores_them(
    server: Program, name: str, value: str, stored: str
) -> None:
    assert server.ask("POST", CONFIG_MAPS, _map(value, name), Content_Type=JSON).status == 201
    assert server.ask("GET", f"{CONFIG_MAPS}/{name}").json["data"] == {"a": stored}


def test_a_large_body_is_refused_before_it_is_sent(server: Program) -> None:
    with server.tls() as line:
        line.sendall(server.head("POST", CONFIG_MAPS, "Content-Length: 4000000000", f"Content-Type: {JSON}"))
        answer = line.recv(4096)
    assert b"413 Request Entity Too Large" in answer
    assert b"limit is 3145728" in answer


def test_a_large_body_without_a_length_is_refused_as_it_comes(server: Program) -> None:
    chunks = (b"x" * (256 << 10) for _ in range(16))
    connection = server.connect()
    try:
        connection.request("POST", CONFIG_MAPS, chunks, server.headers(), encode_chunked=True)
        assert connection.getresponse().status == 413
    finally:
        connection.close()


def test_a_body_just_below_the_limit_is_read(server: Program) -> None:
    body = _map('"' + "x" * ((3 << 20) - 200) + '"', "large")
    assert server.ask("POST", CONFIG_MAPS, body, Content_Type=JSON).status in (201, 422)


def test_compressed_bodies_are_not_unpacked(server: Program) -> None:
    """So a few bytes cannot become gigabytes."""
    import gzip

    body = gzip.compress(b" " * (20 << 20))
    answer = server.ask("POST", CONFIG_MAPS, body, Content_Type=JSON, Content_Encoding="gzip")
    assert answer.status == 400


def test_memory_does_not_grow_with_bad_bodies(server: Program) -> None:
    bodies = [b"[" * 1_000_000, _map("9" * 1_000_000), b"a: " + b"[" * 100_000]
    for body in bodies:
        server.ask("POST", CONFIG_MAPS, body, Content_Type=JSON)
    before = server.memory()
    for _ in range(10):
        for body in bodies:
            server.ask("POST", CONFIG_MAPS, body, Content_Type=JSON)
    assert server.memory() - before < 16 << 20

"""The rules of connection secrets: which keys are published, which secrets are written, and when."""

from __future__ import annotations

import pytest

from crossply.compose.connection_secret import (
    TYPE,
    encode_data,
    new_secret,
    published_details,
    refusal_to_write,
    secret_place,
)
from crossply.control.composites.connection_secrets import published_at

OWNER = {
    "apiVersion": "example.org/v1",
    "kind": "XDb",
    "metadata": {"name": "x", "uid": "u1"},
    "spec": {"writeConnectionSecretToRef": {"name": "s", "namespace": "system"}},
}


def secret(type_=TYPE, uid=None):
    owners = [] if uid is None else [{"uid": uid, "controller": True}]
    return {"type": type_, "metadata": {"ownerReferences": owners}}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [((), {"a": b"1", "b": b"2"}), (("b", "c"), {"b": b"2"})],
    ids=["no keys let all out", "named keys let only those out"],
)
def test_a_definition_selects_the_published_details(keys, expected):
    assert published_details({"a": b"1", "b": b"2"}, keys) == expected


@pytest.mark.parametrize(
    "existing",
    [secret(uid="u1"), secret("Opaque", uid="u1"), secret()],
    ids=["ours", "ours whatever its type", "nobody's, and of the right type"],
)
def test_a_secret_that_is_ours_or_free_is_written(existing):
    assert refusal_to_write(existing, "u1") == ""


@pytest.mark.parametrize(
    ("existing", "message"),
    [
        (secret(uid="u2"), 'existing secret is not controlled by UID "u1"'),
        (secret("Opaque"), 'refusing to modify uncontrolled secret of type "Opaque"'),
    ],
)
def test_anybody_elses_secret_is_refused(existing, message):
    assert refusal_to_write(existing, "u1") == message


def test_a_new_secret_is_controlled_by_its_owner_and_has_data_only_if_there_are_any():
    created = new_secret(OWNER, "system", "s", encode_data({"user": b"root"}))
    assert created["data"] == {"user": "cm9vdA=="}
    assert created["type"] == TYPE
    [reference] = created["metadata"]["ownerReferences"]
    assert (reference["uid"], reference["controller"]) == ("u1", True)
    assert "data" not in new_secret(OWNER, "system", "s", {})


def test_a_claims_secret_is_in_its_own_namespace():
    assert secret_place(OWNER) == ("system", "s")
    claim = {"metadata": {"namespace": "team"}, "spec": {"writeConnectionSecretToRef": {"name": "s"}}}
    assert secret_place(claim) == ("team", "s")
    assert secret_place({"metadata": {}, "spec": {}}) == ("", "")


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (None, "2024-05-01T10:00:00Z"),
        ("2024-05-01T09:59:59Z", "2024-05-01T10:00:00Z"),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"),
        ("2024-05-01T10:59:59Z", "2024-05-01T11:00:00Z"),
        ("zzz", "2024-05-01T10:00:00Z"),
    ],
    ids=["first", "later", "within one second", "after the clock went back", "not a time"],
)
def test_every_publication_has_a_later_time(last, expected):
    owner = {"status": {"connectionDetails": {"lastPublishedTime": last}}}
    assert published_at(owner, "2024-05-01T10:00:00Z") == expected

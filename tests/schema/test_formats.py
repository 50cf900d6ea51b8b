"""String formats accept and refuse what Kubernetes accepts and refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.schema import formats
from crossply.schema.formats import PATTERNS

RIGHT = {
    "date": ["2024-02-29", "0000-02-29"],
    "date-time": ["2024-01-01T00:00:00Z", "2024-01-01t23:59:59.123+01:00"],
    "duration": ["1h30m", "-1.5h", ".5s", "0", "10 seconds", "2 weeks"],
    "email": ["a@b", "Bob <a@b.c>", '"a b"@c'],
    "hostname": ["example.org", "host", "b-c", "日本.co"],
    "ipv4": ["10.0.0.1", "010.0.0.1"],
    "ipv6": ["::1", "::ffff:1.2.3.4"],
    "cidr": ["10.0.0.0/8", "::/64"],
    "mac": ["01:23:45:67:89:ab", "0123.4567.89ab", "01-23-45-67-89-ab-cd-ef"],
    "uuid": ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B8109DAD11D180B400C04FD430C8"],
    "uuid4": ["6ba7b810-9dad-41d1-80b4-00c04fd430c8"],
    "isbn": ["0321751043", "978-0321751041"],
    "creditcard": ["4111-1111-1111-1111"],
    "ssn": ["123-45-6789"],
    "hexcolor": ["#fff", "00ff00"],
    "rgbcolor": ["rgb(1, 2,255)"],
    "byte": ["YWJj", "YQ=="],
    "uri": ["http://x.y/z?q", "/a/b", "mailto:x@y", "http://[::1]:80/"],
    "bsonobjectid": ["507f1f77bcf86cd799439011"],
    "k8s-short-name": ["a-b"],
}
WRONG = {
    "date": ["2023-02-29", "24-01-01", ""],
    "date-time": ["2024-01-01", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00"],
    "duration": ["", "h", "1x"],
    "email": ["a@", "@b", "a..b@c", "<a@b.c"],
    "hostname": ["", "-a", "a_b", "a.b.1", "a" * 64, "a-b-c"],
    "ipv4": ["300.1.1.1", "1.2.3", "::1"],
    "ipv6": ["1::2::3", "10.0.0.1", "fe80::1%eth0"],
    "cidr": ["10.0.0.0/33", "10.0.0.0", "::/129", "x/8"],
    "mac": ["01:23", "01:23:45:67:89:zz"],
    "uuid": ["6ba7b810"],
    "uuid4": ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
    "isbn": ["0321751044", "x"],
    "creditcard": ["4111111111111112", ""],
    "ssn": ["123456789"],
    "hexcolor": ["#ggg"],
    "rgbcolor": ["rgb(1,2,300)"],
    "byte": ["Y", "", "YQ"],
    "uri": ["a/b", "", "http://a b/", ":x", "http://h:x/"],
    "bsonobjectid": ["507f"],
    "k8s-short-name": ["A", "-a", "a" * 64],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in RIGHT.items() for text in texts])
def test_right_texts_hold(name, text):
    assert formats.matches_format(name, text)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_wrong_texts_do_not_hold(name, text):
    assert not formats.matches_format(name, text)


def test_a_format_of_someone_elses_is_not_checked():
    assert not formats.is_checked("int32")
    assert formats.is_checked("date-time")
    assert formats.is_checked("datetime")


@given(st.sampled_from([name for name in [*RIGHT, *PATTERNS] if not name.startswith("@")]), st.text())
def test_no_text_breaks_a_format(name, text):
    assert formats.matches_format(name, text) in (True, False)

"""Kinds have the plurals that Crossplane's command line gives them."""

from __future__ import annotations

import pytest

from crossply.convert.plural import plural_of


@pytest.mark.parametrize(
    ("kind", "plural", "reason"),
    [
        ("Bucket", "buckets", "a plain word"),
        ("XBucket", "xbuckets", "a capital more does not begin a word"),
        ("Policy", "policies", "a consonant before y"),
        ("Gateway", "gateways", "a vowel before y"),
        ("Cache", "caches", "a word of the list as an ending"),
        ("Database", "databases", "base is such a word"),
        ("Class", "classes", "ss"),
        ("Status", "statuses", "us"),
        ("XPostgres", "xpostgres", "what ends in s is a plural"),
        ("Buckets", "buckets", "a plural already"),
        ("Series", "series", "but one form"),
        ("Person", "people", "a word of the list"),
        ("Human", "humans", "not humen, although men is the plural of man"),
        ("KubeIndex", "kubeindices", "the last word is what is inflected"),
        ("APIGateway", "apigateways", "an acronym ends a word"),
        ("DNS", "dnses", "acronyms in s"),
        ("MyApi", "myapis", "other acronyms, however they are written"),
        ("Medium", "media", "a word whose plural is another word, too"),
        ("", "", "nothing"),
    ],
)
def test_the_plural_of(kind: str, plural: str, reason: str) -> None:
    assert plural_of(kind) == plural, reason

from __future__ import annotations

from crossply.provenance.model import FieldSource, Provenance

BASE = FieldSource("compose", "function-patch-and-transform", "base", "resources[0].base")
PATCH = FieldSource("compose", "function-patch-and-transform", "patch 0", "resources[0].patches[0]")


def test_a_field_without_an_own_source_has_that_of_the_nearest_field_above():
    provenance = Provenance({"bucket": {"spec": BASE, "spec.tags": PATCH, "spec.list[0]": PATCH}})
    assert provenance.of("bucket", "spec.tags") is PATCH
    assert provenance.of("bucket", "spec.tags.team") is PATCH
    assert provenance.of("bucket", "spec.tags[example.org/team]") is PATCH
    assert provenance.of("bucket", "spec.list[0].name") is PATCH
    assert provenance.of("bucket", "spec.list[1].name") is BASE
    assert provenance.of("bucket", "metadata.name") is None
    assert provenance.of("other", "spec") is None
    assert provenance.of("bucket", "spec[") is None

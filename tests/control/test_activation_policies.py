"""Which definitions a policy activates, and when a safe-start Provider need not run."""

from __future__ import annotations

import time

import pytest

from crossply.control.managed_definitions.conversion import crd_of, is_managed
from crossply.control.managed_definitions.safe_start import awaits_activation, has_safe_start
from crossply.kinds.activation_policy import activated_by
from tests.support.e2e.packages import crd

NAMES = ("buckets.s3.aws.example.org", "queues.sqs.aws.example.org", "disks.gcp.example.org")


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("*", NAMES),
        ("*.aws.example.org", NAMES[:2]),
        ("disks.gcp.example.org", NAMES[2:]),
        ("[bq]*.example.org", NAMES[:2]),
        ("?isks.*", NAMES[2:]),
        ("aws", ()),
        ("[", ()),
    ],
)
def test_patterns_match_whole_names(pattern, matched):
    assert activated_by({"spec": {"activate": [pattern]}}, NAMES) == sorted(matched)


def test_a_pattern_of_many_stars_takes_no_time():
    started = time.process_time()
    assert activated_by({"spec": {"activate": ["*a" * 60 + "!"]}}, ["a" * 253]) == []
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize("capability", ["safe-start", "SafeStart", "safe_start"])
def test_safe_start_is_known_in_every_spelling(capability):
    assert has_safe_start(["composition", capability])
    assert not has_safe_start(["composition"])


@pytest.mark.parametrize(
    ("states", "reason", "awaits"),
    [
        (["Inactive", "Inactive"], "", True),
        (["Inactive", "Active"], "", False),
        ([], "", False),
        (["Inactive"], "AwaitingActivation", True),
        (["Inactive"], "ActiveRuntime", False),
    ],
)
def test_a_provider_waits_until_one_of_its_kinds_was_active(states, reason, awaits):
    condition = {"type": "RuntimeActive", "status": "Unknown", "reason": reason}
    status = {"capabilities": ["safe-start"], "conditions": [condition] if reason else []}
    assert awaits_activation({"status": status}, states) is awaits
    assert not awaits_activation({"status": {**status, "capabilities": []}}, states)


def test_kinds_that_configure_a_provider_are_not_managed():
    kinds = ("ProviderConfig", "ClusterProviderConfig", "ProviderConfigUsage", "ClusterProviderConfigUsage")
    assert not any(is_managed(crd("example.org", kind)) for kind in kinds)
    assert is_managed(crd("example.org", "Bucket"))


def test_a_crd_has_the_fields_of_its_definition_and_no_more():
    definition = crd("example.org")
    definition["metadata"] |= {"uid": "1", "annotations": {"a": "b"}}
    definition["spec"] |= {"state": "Active", "connectionDetails": [{"name": "x", "description": "y"}]}
    activated = crd_of({**definition, "apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "M"})
    assert set(activated["spec"]) == {"group", "names", "scope", "versions"}
    assert set(activated["metadata"]) == {"name", "ownerReferences"}

"""The status of a policy has its observed generation."""

from __future__ import annotations

from tests.support.apiserver.store_bench import running

SPEC = {
    "matchConstraints": {
        "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}
        ]
    },
    "validations": [{"expression": "true"}],
}


async def test_the_status_of_a_policy_follows_its_generation() -> None:
    async with running() as (client, controllers):
        await client.create("validatingadmissionpolicies", "", "p", spec=SPEC)
        await controllers.settled()
        policy = client.get("validatingadmissionpolicies", "", "p")
        assert policy is not None
        assert policy["status"] == {"observedGeneration": 1, "typeChecking": {}}
        (own,) = (e for e in policy["metadata"]["managedFields"] if e["operation"] == "Apply")
        assert own["manager"] == "validatingadmissionpolicy-status"
        assert own["subresource"] == "status"
        changed = {**policy["spec"], "failurePolicy": "Ignore"}
        await client.update("validatingadmissionpolicies", "", "p", lambda old: {**old, "spec": changed})
        await controllers.settled()
        policy = client.get("validatingadmissionpolicies", "", "p")
        assert policy is not None
        assert policy["status"]["observedGeneration"] == 2


async def test_the_status_of_a_policy_reports_warnings() -> None:
    async with running() as (client, controllers):
        spec = {**SPEC, "validations": [{"expression": "object.nope == 1"}]}
        await client.create("validatingadmissionpolicies", "", "p", spec=spec)
        await controllers.settled()
        policy = client.get("validatingadmissionpolicies", "", "p")
        assert policy is not None
        (warning,) = policy["status"]["typeChecking"]["expressionWarnings"]
        assert warning["fieldRef"] == "spec.validations[0].expression"
        assert warning["warning"].startswith("/v1, Kind=Secret: ERROR: <input>:1:7: undefined field 'nope'")

"""ValidatingAdmissionPolicies: what they demand, of which writes, and what follows when they are broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crossply.apiserver.auth.rbac.authorizer import Decision
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.served_resources import Version
from tests.support.apiserver.admission import RULE, refusal, setting
from tests.support.apiserver.store_bench import ANYTHING, custom


async def test_a_refusal_has_the_words_of_kubernetes(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.policy("p", "object.metadata.name == 'zz'", "false")
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "default", "one")
        message = (
            "ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: failed expression: "
            "object.metadata.name == 'zz'"
        )
        assert caught.value.body() == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f'widgets.example.org "one" is forbidden: {message}',
            "reason": "Invalid",
            "details": {
                "name": "one",
                "group": "example.org",
                "kind": "widgets",
                "causes": [{"message": message}],
            },
            "code": 422,
        }


@pytest.mark.parametrize(
    ("reason", "code"),
    [("Forbidden", 403), ("Unauthorized", 401), ("RequestEntityTooLarge", 413), ("Invalid", 422)],
)
async def test_the_reason_of_a_refusal_decides_its_code(tmp_path: Path, reason: str, code: int) -> None:
    async with setting(tmp_path) as client:
        await client.policy("p", {"expression": "false", "reason": reason})
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "default", "one")
        assert (caught.value.reason, caught.value.status) == (reason, code)


X = [{"name": "x", "expression": "object.metadata.name"}]
BROKEN = [{"name": "x", "expression": "object.nope.name"}, {"name": "y", "expression": "variables.x + '!'"}]
ROWS: list[tuple[Any, dict[str, Any], str, str]] = [
    ("object.metadata.name == 'one'", {}, "", "what holds passes"),
    ({"expression": "false", "message": " be good "}, {}, "be good", "its message"),
    (
        {"expression": "false", "message": "m", "messageExpression": "'name is ' + object.metadata.name"},
        {},
        "name is one",
        "its computed message",
    ),
    (
        {"expression": "false", "message": "m", "messageExpression": "string(object.nope.x)"},
        {},
        "m",
        "the plain message when the other cannot be computed",
    ),
    (
        {"expression": "false", "messageExpression": "'a\\nb'"},
        {},
        "failed expression: false",
        "one line only",
    ),
    (
        "object.nope.x == 'zz'",
        {},
        "expression 'object.nope.x == 'zz'' resulted in error: no such key: nope",
        "what cannot be evaluated fails",
    ),
    ("object.nope.x == 'zz'", {"failurePolicy": "Ignore"}, "", "unless failures are ignored"),
    (
        "variables.y == 'one!'",
        {"variables": [*X, {"name": "y", "expression": "variables.x + '!'"}]},
        "",
        "chain",
    ),
    (
        "variables.y == 'zz!'",
        {"variables": BROKEN},
        "expression 'variables.y == 'zz!'' resulted in error: composited variable \"y\" fails to evaluate: "
        'composited variable "x" fails to evaluate: no such key: nope',
        "a broken chain says where it broke",
    ),
    ("has(object.nope) ? variables.y == '' : true", {"variables": BROKEN}, "", "variables are lazy"),
    (
        "variables.since < timestamp('2100-01-01T00:00:00Z') && variables.far > duration('1h')",
        {
            "variables": [
                {"name": "since", "expression": "timestamp('2020-01-01T00:00:00Z')"},
                {"name": "far", "expression": "timestamp('2020-01-02T00:00:00Z') - variables.since"},
            ]
        },
        "",
        "times and durations go through variables",
    ),
    (
        {"expression": "variables.x == 'zz'", "messageExpression": "'x is ' + variables.x"},
        {"variables": X},
        "x is one",
        "variables in messages",
    ),
    (
        "false",
        {"matchConditions": [{"name": "c", "expression": "object.metadata.name == 'zz'"}]},
        "",
        "condition",
    ),
    (
        "false",
        {"matchConditions": [{"name": "c", "expression": "object.nope.x == 'zz'"}]},
        "expression 'object.nope.x == 'zz'' resulted in error: no such key: nope",
        "a condition that cannot be evaluated",
    ),
    ("oldObject == null", {}, "", "there is no old object"),
    ("!has(oldObject.metadata)", {}, "", "an object that is not there has no fields"),
    ("object.?spec.?x.orValue('a') == 'a'", {}, "", "optional fields"),
    ("quantity('1Gi').isLessThan(quantity('2Gi')) && [1, 2].indexOf(2) == 1", {}, "", "Kubernetes' library"),
    (
        "namespaceObject.metadata.name == 'default' && namespaceObject.status.phase == 'Active'",
        {},
        "",
        "namespace",
    ),
    (
        {
            "expression": "false",
            "messageExpression": "request.operation + ' ' + request.userInfo.username + ' ' + "
            "request.resource.resource + ' ' + request.name + ' ' + request.namespace + ' ' + "
            "request.kind.kind + ' ' + string(request.dryRun)",
        },
        {},
        "CREATE admin widgets one default Widget false",
        "the request",
    ),
    (
        "lists.range(100000).all(a, lists.range(100000).all(b, a + b >= 0))",
        {},
        "expression 'lists.range(100000).all(a, lists.range(100000).all(b, a + b >= 0))' resulted in error: "
        "operation cancelled: actual cost limit exceeded",
        "an expression without end",
    ),
]


@pytest.mark.parametrize(("validation", "spec", "words", "why"), ROWS)
async def test_a_policy_demands(
    tmp_path: Path, validation: Any, spec: dict[str, Any], words: str, why: str
) -> None:
    async with setting(tmp_path) as client:
        await client.policy("p", validation, **spec)
        assert await refusal(client) == words, why


async def test_a_broken_policy_can_warn_only(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.policy("p", "false", binding={"validationActions": ["Warn", "Audit"]})
        call = client.call("widgets", "default", "one", "create")
        await client.context.admission.validate(call, "CREATE", {"metadata": {"name": "one"}}, None)
        assert call.warnings == [
            "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding': "
            "failed expression: false"
        ]


BINDINGS: list[tuple[dict[str, Any], bool, str]] = [
    ({}, True, "everything that the policy is about"),
    ({"resourceRules": [{**RULE, "operations": ["UPDATE"]}]}, False, "another operation"),
    ({"excludeResourceRules": [RULE]}, False, "all that is not left out"),
    ({"resourceRules": [{**RULE, "resourceNames": ["one"]}]}, True, "by name"),
    ({"resourceRules": [{**RULE, "resourceNames": ["two"]}]}, False, "by another name"),
    ({"namespaceSelector": {"matchLabels": {"x": "y"}}}, False, "by a label of the namespace"),
    ({"objectSelector": {"matchLabels": {"x": "y"}}}, True, "by a label of the object"),
]


@pytest.mark.parametrize(("resources", "bound", "why"), BINDINGS)
async def test_a_binding_narrows_its_policy(
    tmp_path: Path, resources: dict[str, Any], bound: bool, why: str
) -> None:
    async with setting(tmp_path) as client:
        await client.policy("p", "false", binding={"matchResources": resources})
        assert bool(await refusal(client, metadata={"labels": {"x": "y"}})) is bound, why


async def test_a_policy_without_a_binding_demands_nothing(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.policy("p", "false")
        assert await refusal(client)
        await client.delete("validatingadmissionpolicybindings", "", "p-binding")
        assert await refusal(client) == ""


PARAMS = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
SHORT = {
    "expression": "size(object.metadata.name) <= int(params.data.max)",
    "messageExpression": "'at most ' + params.data.max",
}
REFERENCES: list[tuple[dict[str, Any] | None, Any, str]] = [
    ({"name": "loose", "parameterNotFoundAction": "Deny"}, "", "one object"),
    ({"name": "tight", "parameterNotFoundAction": "Deny"}, "at most 1", "another object"),
    (
        {"selector": {"matchLabels": {"use": "limits"}}, "parameterNotFoundAction": "Deny"},
        "at most 1",
        "each of several must be satisfied",
    ),
    (
        {"name": "nope", "parameterNotFoundAction": "Deny"},
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
        "none is refused",
    ),
    ({"name": "nope", "parameterNotFoundAction": "Allow"}, "", "none passes"),
    ({"name": "tight", "namespace": "kube-system", "parameterNotFoundAction": "Allow"}, "", "elsewhere"),
]


@pytest.mark.parametrize(("reference", "words", "why"), REFERENCES)
async def test_parameters_are_objects(
    tmp_path: Path, reference: dict[str, Any], words: str, why: str
) -> None:
    async with setting(tmp_path) as client:
        for name, most in (("loose", "9"), ("tight", "1")):
            labels = {"labels": {"use": "limits"}}
            await client.create("configmaps", "default", name, metadata=labels, data={"max": most})
        await client.policy("p", SHORT, binding={"paramRef": reference}, **PARAMS)
        assert await refusal(client) == words, why


async def test_a_policy_with_parameters_of_an_unknown_kind_refuses_all(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        kind = {"apiVersion": "nope.example.org/v1", "kind": "Nope"}
        reference = {"name": "nope", "parameterNotFoundAction": "Allow"}
        await client.policy("p", "true", binding={"paramRef": reference}, paramKind=kind)
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "default", "one")
        assert str(caught.value).endswith(
            "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find "
            "resource referenced by paramKind: 'nope.example.org/v1, Kind=Nope'"
        )


def only_pods(user: User, info: RequestInfo) -> Decision:
    return Decision(info.resource == "pods" and user.name == "admin", f"asked {info.verb} {info.path}")


AUTHORIZED = [
    ("authorizer.group('').resource('pods').namespace('x').check('create').allowed()", True),
    ("authorizer.group('').resource('secrets').check('create').allowed()", False),
    ("authorizer.requestResource.check('create').allowed()", False),
    ("authorizer.serviceAccount('a', 'b').group('').resource('pods').check('get').allowed()", False),
    ("authorizer.path('/healthz').check('get').reason() == 'asked get /healthz'", True),
    ("[1, 2, 3].all(n, authorizer.group('').resource('pods').check('get').allowed())", False),
]


@pytest.mark.parametrize(("expression", "allowed"), AUTHORIZED)
async def test_expressions_can_check_the_users_permissions(
    tmp_path: Path, expression: str, allowed: bool
) -> None:
    async with setting(tmp_path, only_pods) as client:
        await client.policy("p", expression)
        assert (await refusal(client) == "") is allowed


async def test_a_policy_sees_the_version_that_its_rule_names(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        versions = {name: Version(name, ANYTHING) for name in ("v1", "v2")}
        client.context.registry.put(custom("widgets", "Widget", True, versions=versions))
        message = "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version"
        await client.policy("p", {"expression": "false", "messageExpression": message})
        assert await refusal(client, call={"version": "v2"}) == "example.org/v1 v1 v2"


async def test_updates_and_deletions_are_checked_too(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.create("widgets", "default", "one", spec={"size": 3})
        await client.policy("p", "request.operation == 'DELETE' || object.spec.size >= oldObject.spec.size")
        with pytest.raises(StatusError, match="failed expression"):
            await client.update("widgets", "default", "one", lambda old: {**old, "spec": {"size": 2}})
        await client.update("widgets", "default", "one", lambda old: {**old, "spec": {"size": 4}})
        await client.policy(
            "q", "request.operation != 'DELETE' || (object == null && oldObject.spec.size > 9)"
        )
        with pytest.raises(StatusError, match="failed expression"):
            await client.delete("widgets", "default", "one")


async def test_policies_themselves_are_exempt(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
        await client.policy("p", "false", matchConstraints={"resourceRules": [everything]})
        await client.delete("validatingadmissionpolicybindings", "", "p-binding")
        await client.create("widgets", "default", "one")

"""ValidatingAdmissionPolicy: rules in CEL that every write must keep."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import pytest

from tests.support.api.polling import eventually

POLICIES = "validatingadmissionpolicies"
BINDINGS = "validatingadmissionpolicybindings"
RULES = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["configmaps"],
    }
]


@pytest.fixture
def enforce(register, ns, configmaps):
    """Put a policy in force for the case's namespace."""

    def policy(validations, binding=None, **spec):
        built = register(
            POLICIES,
            {
                "spec": {
                    "matchConstraints": {"resourceRules": RULES},
                    "validations": validations,
                    "failurePolicy": "Fail",
                    **spec,
                }
            },
        )
        name = built["metadata"]["name"]
        bound = {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns}}},
            **(binding or {}),
        }
        register(BINDINGS, {"spec": bound})
        return name

    return policy


def refused(collection, name, **fields):
    """The refusal of a write, once the policy is in force."""
    return eventually(
        lambda: (a := collection.post(collection.object(name, **fields), dryRun="All")).status != 201 and a
    )


def test_a_rule_refuses(configmaps, enforce):
    name = enforce([{"expression": "has(object.data) && object.data.size() > 0", "message": "no data"}])
    answer = refused(configmaps, "one")
    status = answer.refused(
        422,
        "Invalid",
        f"configmaps \"one\" is forbidden: ValidatingAdmissionPolicy '{name}' with binding "
        f"'{answer.message.partition(chr(39) + ' denied')[0].rpartition(chr(39))[2]}' denied request: no data",
    )
    assert status["details"]["causes"] == [
        {
            "message": f"ValidatingAdmissionPolicy '{name}' with binding '{binding_of(answer)}' denied request: no data"
        }
    ]
    configmaps.create("two", data={"a": "1"})


def binding_of(answer):
    return answer.message.partition("with binding '")[2].partition("'")[0]


def test_without_a_message_the_rule_is_shown(configmaps, enforce):
    enforce([{"expression": "object.metadata.name.startsWith('ok')"}])
    assert refused(configmaps, "one").message.endswith(
        "denied request: failed expression: object.metadata.name.startsWith('ok')"
    )


def test_a_message_may_be_computed(configmaps, enforce):
    enforce(
        [{"expression": "false", "messageExpression": "'not ' + object.metadata.name", "reason": "Forbidden"}]
    )
    answer = refused(configmaps, "one")
    assert answer.message.endswith("denied request: not one")
    assert (answer.status, answer.reason) == (403, "Forbidden")


def test_variables_and_the_old_object(configmaps, enforce):
    enforce(
        [
            {
                "expression": "variables.before == '' || variables.before == object.data.a",
                "message": "a cannot change",
            }
        ],
        variables=[{"name": "before", "expression": "oldObject != null ? oldObject.data.a : ''"}],
    )
    configmaps.create("one", data={"a": "1"})
    answer = eventually(
        lambda: (a := configmaps.merge("one", {"data": {"a": "2"}}, dryRun="All")).status != 200 and a
    )
    assert answer.message.endswith("a cannot change")


def test_parameters(widgets, configmaps, enforce):
    widgets.create("limits", spec={"size": 2})
    enforce(
        [
            {
                "expression": "!has(object.data) || object.data.size() <= params.spec.size",
                "message": "too many keys",
            }
        ],
        binding={
            "paramRef": {"name": "limits", "namespace": widgets.namespace, "parameterNotFoundAction": "Deny"}
        },
        paramKind={"apiVersion": widgets.api_version, "kind": "Widget"},
    )
    many = {"a": "1", "b": "2", "c": "3"}
    eventually(lambda: refused(configmaps, "one", data=many).message.endswith("too many keys"))
    configmaps.create("two", data={"a": "1"})


def test_a_warning_lets_pass(configmaps, enforce):
    enforce([{"expression": "false", "message": "hm"}], binding={"validationActions": ["Warn"]})
    answer = eventually(lambda: (a := configmaps.post(configmaps.object("one"), dryRun="All")).warnings and a)
    assert answer.status == 201
    assert answer.warnings[0].endswith("hm")


def test_conditions_choose(configmaps, enforce):
    enforce(
        [{"expression": "false", "message": "picked"}],
        matchConditions=[{"name": "picked", "expression": "object.metadata.name.startsWith('picked')"}],
    )
    assert refused(configmaps, "picked").message.endswith("picked")
    configmaps.create("other")


def test_the_user_is_known(admin, configmaps, enforce):
    enforce([{"expression": "request.userInfo.username != 'mallory'", "message": "not you"}])
    mallory = configmaps.with_client(admin.acting_as("mallory", "system:masters"))
    assert refused(mallory, "one").message.endswith("not you")
    configmaps.create("two")


def test_a_rule_that_fails_refuses(configmaps, enforce):
    enforce([{"expression": "object.data.missing == '1'"}])
    assert "resulted in error: no such key: missing" in refused(configmaps, "one", data={"a": "b"}).message


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"validations": [{"expression": ""}]}, "spec.validations[0].expression"),
        ({"validations": []}, "spec.validations"),
        ({"validations": [{"expression": "true"}], "failurePolicy": "Maybe"}, "spec.failurePolicy"),
    ],
    ids=["empty", "none", "failure policy"],
)
def test_bad_policies_are_refused(admin, ns, spec, field):
    body = {"metadata": {"name": f"bad-{ns}"}, "spec": {"matchConstraints": {"resourceRules": RULES}, **spec}}
    answer = admin.post(f"/apis/admissionregistration.k8s.io/v1/{POLICIES}", body)
    assert answer.status == 422, answer.text
    assert field in [cause["field"] for cause in answer.causes]


@pytest.mark.parametrize("expression", ["object.(", "1 + 1"], ids=["syntax", "not a bool"])
def test_policies_that_cannot_be_compiled_are_refused(admin, ns, expression):
    spec = {"matchConstraints": {"resourceRules": RULES}, "validations": [{"expression": expression}]}
    answer = admin.post(
        f"/apis/admissionregistration.k8s.io/v1/{POLICIES}", {"metadata": {"name": f"bad-{ns}"}, "spec": spec}
    )
    assert answer.status == 422, answer.text
    assert "spec.validations[0].expression" in [cause["field"] for cause in answer.causes]

"""Rights that a provider lacks, in the lines of programs that log as text or JSON."""

from __future__ import annotations

import pytest

from crossply.control.runtimes.provider_missing_rights import MissingRight, missing_right

ACCOUNT = "crossplane-system:provider-x-1"
TEXT = (
    "E0101 reflector.go:200] Failed to watch *v1.Pod: failed to list *v1.Pod: pods is forbidden: User "
    '"system:serviceaccount:crossplane-system:provider-x-1" cannot list resource "pods" in API group "" at '
    "the cluster scope"
)
JSON = (
    '{"level":"debug","error":"cannot get: deployments.apps \\"a\\" is forbidden: User '
    '\\"system:serviceaccount:crossplane-system:provider-x-1\\" cannot get resource \\"deployments/scale\\" '
    'in API group \\"apps\\" in the namespace \\"a\\""}'
)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        (TEXT, MissingRight("list", "pods", "")),
        (JSON, MissingRight("get", "deployments/scale", "apps")),
        (TEXT.replace("provider-x-1", "provider-y-1"), None),
        ("all is well", None),
    ],
)
def test_a_line_names_the_missing_right(line, right):
    assert missing_right(line, ACCOUNT) == right


def test_the_message_has_the_command_to_run():
    message = MissingRight("list", "pods", "").message("provider-x", "crossplane-system", "provider-x-1")
    assert message == (
        "the provider may not list pods, and tries to. To grant it: "
        "kubectl create clusterrole provider-x-list-pods --verb=get,list,watch --resource=pods && "
        "kubectl create clusterrolebinding provider-x-list-pods --clusterrole=provider-x-list-pods "
        "--serviceaccount=crossplane-system:provider-x-1"
    )

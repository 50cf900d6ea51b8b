"""Defaults of webhooks and admission policies."""

from __future__ import annotations

from crossply.apiserver.builtin.defaults.pods import setting
from crossply.values import Object

_ADMISSION = "io.k8s.api.admissionregistration.v1"


def _matching(obj: Object) -> None:
    obj.setdefault("matchPolicy", "Equivalent")
    obj.setdefault("namespaceSelector", {})
    obj.setdefault("objectSelector", {})


def _validating(webhook: Object) -> None:
    _matching(webhook)
    webhook.setdefault("failurePolicy", "Fail")
    webhook.setdefault("timeoutSeconds", 10)


def _mutating(webhook: Object) -> None:
    _validating(webhook)
    webhook.setdefault("reinvocationPolicy", "Never")


DEFAULTS = {
    f"{_ADMISSION}.ValidatingWebhook": _validating,
    f"{_ADMISSION}.MutatingWebhook": _mutating,
    f"{_ADMISSION}.RuleWithOperations": setting(scope="*"),
    f"{_ADMISSION}.NamedRuleWithOperations": setting(scope="*"),
    f"{_ADMISSION}.ServiceReference": setting(port=443),
    f"{_ADMISSION}.ValidatingAdmissionPolicySpec": setting(failurePolicy="Fail"),
    f"{_ADMISSION}.MatchResources": _matching,
}

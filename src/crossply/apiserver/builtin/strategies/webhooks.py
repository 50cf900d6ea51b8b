"""Strategies of webhook configurations."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from crossply.apiserver.admission.cel_expression_validation import check_stored_conditions
from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    duplicate,
    invalid,
    label_selector,
    one_of,
    problems_at,
    required,
)
from crossply.apiserver.registry.name_validation import (
    dns_1035_problems,
    qualified_name_problems,
    subdomain_problems,
)
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_REVIEWS = ("v1", "v1beta1")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
FAILURE_POLICIES, MATCH_POLICIES = ("Fail", "Ignore"), ("Equivalent", "Exact")
_HARMLESS = ("None", "NoneOnDryRun")


class WebhookStrategy(Strategy):
    counts_generation = True
    allows_unconditional_update = False
    generation_fields = ("webhooks",)

    def validate(self, obj: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        names: set[str] = set()
        for index, webhook in enumerate(obj.get("webhooks") or ()):
            path = f"webhooks[{index}]"
            errors += _check_webhook(webhook, path)
            errors += _check_reviews(webhook.get("admissionReviewVersions") or (), path)
            name = webhook.get("name", "")
            if name and name in names:
                errors.append(duplicate(f"{path}.name", name))
            names.add(name)
        return errors


def _check_webhook(webhook: Object, path: str) -> list[FieldError]:
    errors = _check_name(webhook.get("name", ""), f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        errors += check_rule(rule, f"{path}.rules[{index}]")
    errors += one_of(f"{path}.failurePolicy", webhook.get("failurePolicy", "Fail"), FAILURE_POLICIES)
    errors += one_of(f"{path}.matchPolicy", webhook.get("matchPolicy", "Exact"), MATCH_POLICIES)
    if "reinvocationPolicy" in webhook:
        policies = ["IfNeeded", "Never"]
        errors += one_of(f"{path}.reinvocationPolicy", webhook["reinvocationPolicy"], policies)
    effects = webhook.get("sideEffects")
    if effects is None:
        errors.append(required(f"{path}.sideEffects", f"must specify one of {', '.join(_HARMLESS)}"))
    else:
        errors += one_of(f"{path}.sideEffects", effects, _HARMLESS)
    timeout = webhook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        detail = "the timeout value must be between 1 and 30 seconds"
        errors.append(invalid(f"{path}.timeoutSeconds", timeout, detail))
    for key in ("namespaceSelector", "objectSelector"):
        errors += label_selector(webhook.get(key), f"{path}.{key}")
    errors += _check_client(webhook.get("clientConfig") or {}, f"{path}.clientConfig")
    conditions = webhook.get("matchConditions") or ()
    errors += check_conditions(conditions, f"{path}.matchConditions")
    return [*errors, *check_stored_conditions(conditions, f"{path}.matchConditions")]


def _check_name(name: str, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    errors = problems_at(path, name, subdomain_problems(name))
    if not errors and name.count(".") < 2:
        detail = "should be a domain with at least three segments separated by dots"
        errors.append(invalid(path, name, detail))
    return errors


def check_rule(rule: Object, path: str) -> list[FieldError]:
    operations = rule.get("operations") or ()
    errors = [] if operations else [required(f"{path}.operations")]
    if len(operations) > 1 and "*" in operations:
        detail = "if '*' is present, must not specify other operations"
        errors.append(invalid(f"{path}.operations", list(operations), detail))
    for index, operation in enumerate(operations):
        errors += one_of(f"{path}.operations[{index}]", operation, _OPERATIONS)
    for key, label in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(key) or ()
        if not values:
            errors.append(required(f"{path}.{key}"))
        if len(values) > 1 and "*" in values:
            detail = f"if '*' is present, must not specify other {label}"
            errors.append(invalid(f"{path}.{key}", list(values), detail))
    versions = enumerate(rule.get("apiVersions") or ())
    errors += [required(f"{path}.apiVersions[{index}]") for index, version in versions if not version]
    errors += _check_resources(rule.get("resources") or (), f"{path}.resources")
    return errors + one_of(f"{path}.scope", rule.get("scope", "*"), _SCOPES)


def _check_resources(resources: Any, path: str) -> list[FieldError]:
    if not resources:
        return [required(path)]
    errors = [required(f"{path}[{index}]") for index, name in enumerate(resources) if not name]
    if len(resources) > 1 and "*/*" in resources:
        detail = "if '*/*' is present, must not specify other resources"
        errors.append(invalid(path, list(resources), detail))
    plain = [name for name in resources if name and "/" not in name]
    if "*" in resources and plain[-1] != "*":
        detail = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, list(resources), detail))
    return errors


def _check_reviews(versions: Any, path: str) -> list[FieldError]:
    path = f"{path}.admissionReviewVersions"
    if not versions:
        return [required(path, f"must specify one of {', '.join(_REVIEWS)}")]
    errors: list[FieldError] = []
    for index, version in enumerate(versions):
        if version in versions[:index]:
            errors.append(invalid(f"{path}[{index}]", version, "duplicate version"))
        else:
            errors += problems_at(f"{path}[{index}]", version, dns_1035_problems(version))
    if not set(_REVIEWS) & set(versions):
        detail = f"must include at least one of {', '.join(_REVIEWS)}"
        errors.append(invalid(path, list(versions), detail))
    return errors


def _check_client(client: Object, path: str) -> list[FieldError]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if service is None:
        return check_url(url or "", f"{path}.url")
    errors = [required(f"{path}.service.{key}") for key in ("name", "namespace") if not service.get(key)]
    return errors + _check_service(service, f"{path}.service")


def _check_service(service: Object, path: str) -> list[FieldError]:
    port = service.get("port", 443)
    errors = []
    if not 1 <= port <= 65535:
        detail = "port is not valid: must be between 1 and 65535, inclusive"
        errors.append(invalid(f"{path}.port", port, detail))
    return errors + _check_path(service.get("path") or "/", f"{path}.path")


def _check_path(value: str, path: str) -> list[FieldError]:
    if value == "/":
        return []
    if value == "//":
        return [invalid(path, value, "segment[0] may not be empty")]
    errors = [] if value.startswith("/") else [invalid(path, value, "must start with a '/'")]
    for index, segment in enumerate(value[1:].removesuffix("/").split("/")):
        if not segment:
            errors.append(invalid(path, value, f"segment[{index}] may not be empty"))
            continue
        problems = subdomain_problems(segment)
        errors += [invalid(path, value, f"segment[{index}]: {problem}") for problem in problems]
    return errors


def check_url(url: str, path: str) -> list[FieldError]:
    """A webhook URL must use HTTPS, without credentials, query or fragment."""
    form = "; desired format: https://host[/path]"
    parts = urlsplit(url)
    errors = []
    if parts.scheme != "https":
        detail = f"'https' is the only allowed URL scheme{form}"
        errors.append(invalid(path, parts.scheme, detail))
    if not parts.netloc:
        errors.append(invalid(path, parts.netloc, f"host must be specified{form}"))
    if "@" in parts.netloc:
        detail = "user information is not permitted in the URL"
        errors.append(invalid(path, parts.netloc.rpartition("@")[0], detail))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return errors


def check_conditions(conditions: Any, path: str) -> list[FieldError]:
    """Validate match conditions, except for the types of their expressions."""
    errors: list[FieldError] = []
    names: set[str] = set()
    if len(conditions) > 64:
        from crossply.schema.field_errors import too_many

        errors.append(too_many(path, len(conditions), 64))
    for index, condition in enumerate(conditions):
        name, at = condition.get("name", ""), f"{path}[{index}]"
        if not condition.get("expression", "").strip():
            errors.append(required(f"{at}.expression"))
        if not name:
            errors.append(required(f"{at}.name"))
        else:
            errors += problems_at(f"{at}.name", name, qualified_name_problems(name))
            if name in names:
                errors.append(duplicate(f"{at}.name", name))
        names.add(name)
    return errors

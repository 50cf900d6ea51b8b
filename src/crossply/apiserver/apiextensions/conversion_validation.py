"""Validates `spec.conversion` of a definition."""

from __future__ import annotations

import base64
import binascii
import urllib.parse
from typing import Any

from crossply.apiserver.registry.name_validation import dns_1035_problems, subdomain_problems
from crossply.schema.field_errors import FORBIDDEN, INVALID, REQUIRED, FieldError, unsupported
from crossply.values import Object

_REVIEW_VERSIONS = ("v1", "v1beta1")
_FORM = "; desired format: https://host[/path]"
BAD_BUNDLE = "unable to load root certificates: unable to parse bytes as PEM block"


def check_conversion(conversion: Object, path: str, *, allow_bad_bundle: bool) -> list[FieldError]:
    strategy, webhook = conversion.get("strategy") or "", conversion.get("webhook") or {}
    errors = []
    if not strategy:
        errors.append(FieldError(REQUIRED, f"{path}.strategy", "", ""))
    elif strategy not in ("None", "Webhook"):
        errors.append(unsupported(f"{path}.strategy", strategy, ["None", "Webhook"]))
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy == "Webhook":
        errors += _check_client(client, f"{path}.webhookClientConfig", allow_bad_bundle)
        return errors + _check_reviews(reviews, f"{path}.conversionReviewVersions")
    detail = "should not be set when strategy is not set to Webhook"
    if client is not None:
        errors.append(FieldError(FORBIDDEN, f"{path}.webhookClientConfig", "", detail))
    if reviews:
        errors.append(FieldError(FORBIDDEN, f"{path}.conversionReviewVersions", "", detail))
    return errors


def _check_client(client: Object | None, path: str, allow_bad_bundle: bool) -> list[FieldError]:
    if client is None:
        return [FieldError(REQUIRED, path, "", "required when strategy is set to Webhook")]
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        errors = [FieldError(REQUIRED, path, "", "exactly one of url or service is required")]
    elif url is not None:
        errors = check_url(url, f"{path}.url")
    else:
        errors = check_service(service or {}, f"{path}.service")
    bundle = client.get("caBundle")
    if bundle and not allow_bad_bundle and not is_ca_bundle(bundle):
        errors.append(FieldError(INVALID, f"{path}.caBundle", bundle, BAD_BUNDLE))
    return errors


def check_url(url: str, path: str) -> list[FieldError]:
    try:
        if url.startswith(":"):
            raise ValueError("missing protocol scheme")
        parts = urllib.parse.urlsplit(url)
    except ValueError as problem:
        return [FieldError(REQUIRED, path, "", f'url must be a valid URL: parse "{url}": {problem}{_FORM}')]
    errors = []
    if parts.scheme != "https":
        errors.append(
            FieldError(INVALID, path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
        )
    user, at, host = parts.netloc.rpartition("@")
    if not host:
        errors.append(FieldError(INVALID, path, "", f"host must be specified{_FORM}"))
    if at:
        errors.append(FieldError(INVALID, path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(FieldError(INVALID, path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(FieldError(INVALID, path, parts.query, "query parameters are not permitted in the URL"))
    return errors


def check_service(service: Object, path: str) -> list[FieldError]:
    errors = [
        FieldError(REQUIRED, f"{path}.{label}", "", "")
        # kube-apiserver confuses the two here.
        for key, label in (("namespace", "name"), ("name", "namespace"))
        if not service.get(key)
    ]
    port: Any = service.get("port", 443)
    if not 1 <= port <= 65535:
        detail = "port is not valid: must be between 1 and 65535, inclusive"
        errors.append(FieldError(INVALID, f"{path}.port", port, detail))
    return errors + _check_path(service.get("path") or "", f"{path}.path")


def _check_path(url_path: str, path: str) -> list[FieldError]:
    if url_path in ("", "/"):
        return []
    if url_path == "//":
        return [FieldError(INVALID, path, url_path, "segment[0] may not be empty")]
    errors = []
    if not url_path.startswith("/"):
        errors.append(FieldError(INVALID, path, url_path, "must start with a '/'"))
    for index, step in enumerate(url_path[1:].removesuffix("/").split("/")):
        if not step:
            errors.append(FieldError(INVALID, path, url_path, f"segment[{index}] may not be empty"))
            continue
        errors += [
            FieldError(INVALID, path, url_path, f"segment[{index}]: {problem}")
            for problem in subdomain_problems(step)
        ]
    return errors


def _check_reviews(versions: list[str], path: str) -> list[FieldError]:
    if not versions:
        return [FieldError(REQUIRED, path, "", "")]
    errors, names = [], set()
    for index, version in enumerate(versions):
        if version in names:
            errors.append(FieldError(INVALID, f"{path}[{index}]", version, "duplicate version"))
            continue
        names.add(version)
        errors += [
            FieldError(INVALID, f"{path}[{index}]", version, problem)
            for problem in dns_1035_problems(version)
        ]
    if not names.intersection(_REVIEW_VERSIONS):
        detail = f"must include at least one of {', '.join(_REVIEW_VERSIONS)}"
        errors.append(FieldError(INVALID, path, versions, detail))
    return errors


def is_ca_bundle(bundle: str) -> bool:
    """Whether a base64 text contains certificates."""
    from cryptography import x509

    try:
        return bool(x509.load_pem_x509_certificates(base64.b64decode(bundle)))
    except (ValueError, binascii.Error):
        return False

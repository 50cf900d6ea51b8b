"""Strategies of Jobs and CronJobs."""

from __future__ import annotations

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    immutable,
    invalid,
    label_selector,
    not_negative,
    one_of,
    required,
    selects,
)
from crossply.apiserver.builtin.strategies.pod_specs import check_template
from crossply.apiserver.registry.name_validation import too_long_problem
from crossply.schema.field_errors import FieldError, unsupported
from crossply.values import Object

_UID, _OLD_UID = "batch.kubernetes.io/controller-uid", "controller-uid"
_NAME, _OLD_NAME = "batch.kubernetes.io/job-name", "job-name"
_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_CRON_NAME = 52


class JobStrategy(Strategy):
    counts_generation = True

    def prepare_create(self, obj: Object) -> None:
        """Generate the selector and labels of this Job, unless manualSelector is set."""
        super().prepare_create(obj)
        spec = obj["spec"]
        if spec.get("manualSelector"):
            return
        uid, name = obj["metadata"].get("uid", ""), obj["metadata"].get("name", "")
        marks = {_UID: uid, _OLD_UID: uid, _NAME: name, _OLD_NAME: name}
        template = spec["template"].setdefault("metadata", {})
        template["labels"] = {**(template.get("labels") or {}), **marks}
        # A Job without labels gets those of its template, including the generated ones.
        labels = obj["metadata"].get("labels")
        if labels is not None and labels.items() <= template["labels"].items():
            obj["metadata"]["labels"] = {**labels, **marks}
        selector = spec.get("selector") or {}
        labels = {**(selector.get("matchLabels") or {}), _UID: uid}
        spec["selector"] = {**selector, "matchLabels": labels}

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = check_job_spec(spec, "spec")
        selector = spec.get("selector")
        if selector is None:
            errors.append(required("spec.selector"))
        errors += label_selector(selector, "spec.selector")
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
        if selector is not None and not selects(selector, labels or {}):
            detail = "`selector` does not match template `labels`"
            errors.append(invalid("spec.template.metadata.labels", labels, detail))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The template and selector of a Job are immutable."""
        errors = self.validate(new)
        after, before = new["spec"], old["spec"]
        if after.get("completionMode") != "Indexed":
            errors += immutable(after.get("completions"), before.get("completions"), "spec.completions")
        errors += immutable(after.get("selector"), before.get("selector"), "spec.selector")
        if not before.get("suspend"):
            errors += immutable(after.get("template"), before.get("template"), "spec.template")
        key = "completionMode"
        return errors + immutable(after.get(key), before.get(key), f"spec.{key}")


def check_job_spec(spec: Object, path: str) -> list[FieldError]:
    errors = not_negative(spec, path, *_COUNTS)
    mode = spec.get("completionMode", "NonIndexed")
    errors += one_of(f"{path}.completionMode", mode, ["NonIndexed", "Indexed"])
    if mode == "Indexed" and spec.get("completions") is None:
        errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
    if mode == "NonIndexed":
        errors += [
            invalid(f"{path}.{key}", spec[key], "requires indexed completion mode")
            for key in ("backoffLimitPerIndex", "maxFailedIndexes")
            if spec.get(key) is not None
        ]
    template = spec.get("template") or {}
    errors += check_template(template, f"{path}.template")
    policy, at = (template.get("spec") or {}).get("restartPolicy", ""), f"{path}.template.spec.restartPolicy"
    if policy in ("", "Always"):
        errors.append(required(at, 'valid values: "OnFailure", "Never"'))
    elif policy not in ("OnFailure", "Never"):
        errors.append(unsupported(at, policy, ["OnFailure", "Never"]))
    return errors


class CronJobStrategy(Strategy):
    counts_generation = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """The names of its Jobs have eleven more characters."""
        problems = super().name_problems(name)
        return (*problems, too_long_problem(_CRON_NAME)) if len(name) > _CRON_NAME else problems

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        schedule = spec.get("schedule", "")
        errors = [] if schedule else [required("spec.schedule")]
        if schedule and not schedule.startswith("@") and len(schedule.split()) != 5:
            count = len(schedule.split())
            detail = f"expected exactly 5 fields, found {count}: [{' '.join(schedule.split())}]"
            errors.append(invalid("spec.schedule", schedule, detail))
        errors += not_negative(spec, "spec", "startingDeadlineSeconds")
        policies = ["Allow", "Forbid", "Replace"]
        errors += one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy", ""), policies)
        errors += not_negative(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
        job = (spec.get("jobTemplate") or {}).get("spec") or {}
        return errors + check_job_spec(job, "spec.jobTemplate.spec")

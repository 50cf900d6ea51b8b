"""Defaults of Jobs and CronJobs."""

from __future__ import annotations

from crossply.apiserver.builtin.defaults.pods import setting
from crossply.values import Object

_BATCH = "io.k8s.api.batch.v1"
_NO_LIMIT = 2**31 - 1


def _job(job: Object) -> None:
    spec = job["spec"]
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", _NO_LIMIT if "backoffLimitPerIndex" in spec else 6)
    labels = spec["template"]["metadata"].get("labels")
    if labels:
        job["metadata"].setdefault("labels", dict(labels))
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)


def _cron_job_spec(spec: Object) -> None:
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)


DEFAULTS = {
    f"{_BATCH}.Job": _job,
    f"{_BATCH}.CronJobSpec": _cron_job_spec,
    f"{_BATCH}.PodFailurePolicyOnPodConditionsPattern": setting(status="True"),
}

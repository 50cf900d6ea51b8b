from crossply.ui.views.operation_rows import operation_rows, parent_row
from tests.support.ui.shop_platform import NIGHTLY, REPORT, operation


def _operation(name: str, created: str, status: str, parent: str = "") -> dict:
    obj = operation(name, REPORT)
    labels = {"ops.crossplane.io/cronoperation": parent} if parent else {}
    obj["metadata"] |= {"creationTimestamp": created, "labels": labels}
    applied = [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "report"}]
    obj["status"] = {
        "conditions": [{"type": "Succeeded", "status": status, "message": "out of paper"}],
        "failures": 2,
        "appliedResourceRefs": applied,
    }
    return obj


OPERATIONS = [
    _operation("old", "2026-01-01T00:00:00Z", "True", "nightly-report"),
    _operation("new", "2026-01-02T00:00:00Z", "False", "nightly-report"),
    _operation("alone", "2026-01-03T00:00:00Z", "Unknown"),
]


def test_operations_come_newest_first_with_their_outcome():
    rows = operation_rows(OPERATIONS)
    assert [(row.name, row.health.state) for row in rows] == [
        ("alone", "waiting"),
        ("new", "failing"),
        ("old", "ready"),
    ]
    assert (rows[1].health.message, rows[1].failures) == ("out of paper", 2)
    assert rows[2].applied == ("ConfigMap/report (default)",)


def test_a_cron_operation_has_the_history_of_its_operations():
    row = parent_row(NIGHTLY, operation_rows(OPERATIONS))
    assert (row.when, [operation.name for operation in row.operations]) == ("0 3 * * *", ["new", "old"])


def test_a_suspended_cron_operation_is_paused():
    suspended = {**NIGHTLY, "spec": {**NIGHTLY["spec"], "suspend": True}}
    assert parent_row(suspended, []).health.state == "paused"


def test_a_watch_operation_shows_its_watched_kind():
    watch = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "matchLabels": {"a": "b"}}
    obj = {"kind": "WatchOperation", "metadata": {"name": "w"}, "spec": {"watch": watch}}
    assert parent_row(obj, []).when == 'ConfigMap in shop with {"a":"b"}'


def test_malformed_fields_read_as_absent():
    [row] = operation_rows(
        [{"metadata": {"name": "x"}, "status": {"conditions": 1, "appliedResourceRefs": 2}}]
    )
    assert (row.health.word, row.applied, row.failures) == ("Waiting", (), 0)

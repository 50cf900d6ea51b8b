from __future__ import annotations

from crossply.provenance.field_reports import report_fields
from crossply.provenance.model import FieldSource, Provenance

LINE = FieldSource("compose", "function-go-templating", "template, line 4", "inline.template:4")
BASE = FieldSource("compose", "function-go-templating", "template, line 2", "inline.template:2")


def test_a_value_of_a_live_secret_comes_from_the_string_data_of_a_step():
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"token": "YQ==", "key": "Yg==", "other": "Yw=="}}
    provenance = Provenance({"secret": {"stringData.token": LINE, "data.token": BASE, "data.key": BASE}})
    sources = {report.path: report.source for report in report_fields(secret, "secret", provenance, "data")}
    assert sources == {"data.token": LINE, "data.key": BASE, "data.other": None}


def test_only_secrets_have_string_data():
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"token": "a"}}
    [report] = report_fields(config_map, "map", Provenance({"map": {"stringData.token": LINE}}), "data.token")
    assert report.source is None

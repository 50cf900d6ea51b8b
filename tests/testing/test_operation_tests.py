"""OperationTests of `up`: the Operation is rendered, and its results are asserted."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.suite_folder import Folder
from tests.support.upbound_project import PROJECT

SCRIPT = """
from crossplane.function import resource

def operate(req, rsp):
    watched = req.required_resources["ops.crossplane.io/watched-resource"].items
    size = resource.struct_to_dict(watched[0].resource)["data"]["size"] if watched else "none"
    resource.update(rsp.desired.resources["note"], {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}, "data": {"size": size},
    })
"""
OPERATION = {
    "apiVersion": "ops.crossplane.io/v1alpha1",
    "kind": "WatchOperation",
    "metadata": {"name": "notes"},
    "spec": {
        "watch": {"apiVersion": "v1", "kind": "ConfigMap"},
        "operationTemplate": {
            "spec": {
                "mode": "Pipeline",
                "pipeline": [
                    {
                        "step": "write",
                        "functionRef": {"name": "function-python"},
                        "input": {"script": SCRIPT},
                    }
                ],
            }
        },
    },
}
WATCHED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "given"}, "data": {"size": "7"}}
NOTE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}, "data": {"size": "7"}}


@pytest.fixture
def project(folder: Folder) -> Folder:
    (folder.path / "composition.yaml").unlink()
    folder.write("upbound.yaml", PROJECT)
    folder.write("operations/notes.yaml", OPERATION)
    return folder


def write(project: Folder, **spec: Any) -> None:
    test = {
        "apiVersion": "meta.dev.upbound.io/v1alpha1",
        "kind": "OperationTest",
        "metadata": {"name": "notes-size"},
        "spec": {"operationPath": "operations/notes.yaml", "watchedResource": WATCHED, **spec},
    }
    project.write("tests/test-notes/test.yaml", yaml.safe_dump(test, sort_keys=False))


def test_what_an_operation_applies_and_its_status_are_asserted(project: Folder) -> None:
    succeeded = {
        "apiVersion": "ops.crossplane.io/v1alpha1",
        "kind": "Operation",
        "metadata": {"name": "notes"},
    }
    write(project, assertResources=[NOTE, succeeded])
    result = project.run()
    assert result.code == 0, result.out
    assert "  ✓ notes-size (" in result.out


def test_paths_may_lead_from_the_folder_of_the_test(project: Folder) -> None:
    project.write("tests/test-notes/watched.yaml", WATCHED)
    paths = {"operationPath": "../../operations/notes.yaml", "watchedResourcePath": "watched.yaml"}
    write(project, **paths, watchedResource=None, assertResources=[NOTE])
    result = project.run()
    assert result.code == 0, result.out


def test_an_assertion_that_does_not_hold_fails_at_its_line(project: Folder) -> None:
    write(project, assertResources=[{**NOTE, "data": {"size": "8"}}])
    result = project.run()
    assert result.code == 1
    assert "ConfigMap note: data.size" in result.out
    assert "tests/test-notes/test.yaml:" in result.out


def test_an_operation_may_be_written_in_the_test(project: Folder) -> None:
    write(project, operationPath="", operation=OPERATION, assertResources=[NOTE])
    assert project.run().code == 0


def test_a_test_without_an_operation_cannot_be_run(project: Folder) -> None:
    write(project, operationPath="")
    result = project.run()
    assert result.code == 2
    assert "one of 'operation' and 'operationPath' is needed" in result.out


def test_it_is_listed_and_filtered_by_its_name(project: Folder) -> None:
    write(project, assertResources=[NOTE])
    assert "notes-size" in project.run("--list").out
    assert project.run("-k", "nothing-like-it").code == 2

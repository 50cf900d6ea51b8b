"""CRDs that Crossplane installed get what they lack, and lose nothing."""

from __future__ import annotations

import asyncio

import pytest

from crossply.control.definitions.core_crd_installation import completed, install_crd, install_or_keep
from crossply.control.definitions.core_crds import core_crds
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import Conflict, KubeError
from crossply.values.deepcopy import deepcopy

OURS = {crd["metadata"]["name"]: crd for crd in core_crds()}
COMPOSITIONS = "compositions.apiextensions.crossplane.io"
FUNCTIONS = "functions.pkg.crossplane.io"
TEXT = {"type": "string"}


def crossplanes(name):
    """A CRD as Crossplane might install it: with descriptions, with an unknown field, without ours."""
    crd = deepcopy(OURS[name])
    crd["metadata"]["annotations"] = {"controller-gen.kubebuilder.io/version": "v0.20"}
    crd["spec"]["versions"] = [version for version in crd["spec"]["versions"] if version["name"] == "v1"]
    version = crd["spec"]["versions"][0]
    version["additionalPrinterColumns"].append(
        {"name": "THEIRS", "type": "string", "jsonPath": ".spec.theirs"}
    )
    spec = spec_of(crd)
    spec["description"] = "What a user wants."
    spec["properties"]["theirs"] = {**TEXT, "description": "A field of a later release."}
    for field in ("activeRevisionLimit", "to", "resources"):
        spec["properties"].pop(field, None)
    spec.pop("x-kubernetes-validations", None)
    return crd


def spec_of(crd, version=0):
    return crd["spec"]["versions"][version]["schema"]["openAPIV3Schema"]["properties"]["spec"]


@pytest.mark.parametrize("name", [COMPOSITIONS, FUNCTIONS])
def test_texts_columns_and_unknown_fields_stay(name):
    crossplane_crd = crossplanes(name)
    done = completed(crossplane_crd, OURS[name])
    assert spec_of(done)["description"] == "What a user wants."
    assert spec_of(done)["properties"]["theirs"] == spec_of(crossplane_crd)["properties"]["theirs"]
    columns = done["spec"]["versions"][0]["additionalPrinterColumns"]
    assert columns == crossplane_crd["spec"]["versions"][0]["additionalPrinterColumns"]


def test_the_fields_rules_and_versions_that_we_need_are_added():
    composition = completed(crossplanes(COMPOSITIONS), OURS[COMPOSITIONS])
    assert {"to", "resources"} <= set(spec_of(composition)["properties"])
    assert [version["name"] for version in composition["spec"]["versions"]] == ["v1", "v1alpha1", "v2alpha1"]
    assert [version["storage"] for version in composition["spec"]["versions"]] == [True, False, False]
    function = completed(crossplanes(FUNCTIONS), OURS[FUNCTIONS])
    assert spec_of(function)["properties"]["activeRevisionLimit"]["default"] == 1
    assert len(spec_of(function)["x-kubernetes-validations"]) == 1


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_complete_crd_needs_no_write(name):
    done = completed(crossplanes(name) if name in (COMPOSITIONS, FUNCTIONS) else OURS[name], OURS[name])
    assert completed(done, OURS[name]) == done


@pytest.mark.parametrize("name", [COMPOSITIONS, FUNCTIONS])
async def test_a_server_keeps_the_crd_of_another_installer_and_the_next_start_writes_nothing(client, name):
    await client.delete(CRD, name)
    while await client.get(CRD, name) is not None:
        await asyncio.sleep(0.05)
    await client.create(CRD, crossplanes(name), "crossplane")
    await install_crd(client, client, OURS[name], "crossply")
    live = await client.get(CRD, name)
    assert spec_of(live)["description"] == "What a user wants."
    assert live["metadata"]["annotations"] == {"controller-gen.kubebuilder.io/version": "v0.20"}
    await install_crd(client, client, OURS[name], "crossply")
    relisted = await client.get(CRD, name)
    assert relisted["metadata"]["generation"] == live["metadata"]["generation"]
    await client.delete(CRD, name)


async def test_a_crd_that_only_we_wrote_has_our_fields(client):
    older = crossplanes(FUNCTIONS)
    await client.apply(CRD, older, "crossply")
    await install_crd(client, client, OURS[FUNCTIONS], "crossply")
    live = await client.get(CRD, FUNCTIONS)
    assert "description" not in spec_of(live)
    await client.delete(CRD, FUNCTIONS)


async def test_an_object_that_others_keep_changing_ends_the_start_with_an_error(client):
    async def conflicting():
        raise Conflict("the object has been modified")

    with pytest.raises(KubeError, match=f"cannot install CustomResourceDefinition {FUNCTIONS}: ") as raised:
        await install_or_keep(client, CRD, OURS[FUNCTIONS], conflicting())
    assert "another installer" in raised.value.hint

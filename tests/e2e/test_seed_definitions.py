"""The first design (seed 1): definitions and publications, and what goes with them."""

from __future__ import annotations

import pytest

from crossply.kube.failures import Invalid
from tests.support.e2e.first_design import (
    APPLICATION_DEFINITION,
    INFRASTRUCTURE_DEFINITION,
    PUBLICATION,
    FirstDesign,
    complete_design,
)
from tests.support.e2e.scenario import CRD, condition

pytestmark = pytest.mark.xdist_group("e2e")


@pytest.mark.parametrize("kind", [INFRASTRUCTURE_DEFINITION, APPLICATION_DEFINITION])
async def test_a_definition_has_the_name_of_its_kind(s, kind):
    design = FirstDesign(s)
    spec = {"crdSpecTemplate": design.template(design.sqls)}
    with pytest.raises(Invalid, match="the name must be the plural and the group"):
        await design.apply(kind, f"others.{s.group}", spec)


async def test_a_publication_reports_its_missing_parts_and_works_once_they_exist(s):
    design = FirstDesign(s)
    reference = {"infrastructureDefinitionReference": {"name": design.sqls.resource}}
    await design.apply(PUBLICATION, design.sqls.resource, reference)
    await s.until(PUBLICATION, design.sqls.resource, condition("Offered", "False", "CannotOffer"))
    await design.define_sql()
    await design.publish()


async def test_a_definition_is_published_once_under_its_own_name(s):
    design = await complete_design(s)
    reference = {"infrastructureDefinitionReference": {"name": design.sqls.resource}}
    await design.apply(PUBLICATION, s.id, reference)
    await s.until(PUBLICATION, s.id, condition("Offered", "False", "CannotOffer"))
    await s.client.delete(PUBLICATION, s.id)
    await s.until_gone(PUBLICATION, s.id)
    assert await s.client.get(CRD, design.requirements.resource)


async def test_a_definition_takes_requirements_infrastructure_and_all_they_stand_for_with_it(s):
    design = await complete_design(s)
    await design.require()
    await design.bound()
    await s.client.delete(INFRASTRUCTURE_DEFINITION, design.sqls.resource)
    await s.until_gone(INFRASTRUCTURE_DEFINITION, design.sqls.resource)
    for kind in (design.requirements, design.sqls):
        assert await s.client.get(CRD, kind.resource) is None
    await s.until(PUBLICATION, design.sqls.resource, condition("Offered", "False"))
    await s.until_none(design.servers)


async def test_a_withdrawn_publication_leaves_the_definition_and_its_infrastructure(s):
    design = await complete_design(s, reclaimPolicy="Retain")
    await design.require()
    sql = await design.bound()
    await s.client.delete(PUBLICATION, design.sqls.resource)
    await s.until_gone(PUBLICATION, design.sqls.resource)
    assert await s.client.get(CRD, design.requirements.resource) is None
    assert await s.client.get(design.sqls, sql["metadata"]["name"]) is not None
    left = await s.client.get(INFRASTRUCTURE_DEFINITION, design.sqls.resource)
    assert left is not None
    assert left["metadata"]["finalizers"] == ["defined.apiextensions.crossplane.io"]

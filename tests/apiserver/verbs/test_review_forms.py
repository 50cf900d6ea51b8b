"""Reviews are no objects with metadata: there is no table of them."""

from __future__ import annotations

import pytest

from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.verbs.virtual_resources import answer_form
from tests.support.apiserver.store_bench import bench


@pytest.mark.parametrize("shape", ["Table", "PartialObjectMetadata"])
async def test_a_review_cannot_be_answered_as_a_table_or_metadata(shape: str) -> None:
    async with bench() as client:
        accept = f"application/json;as={shape};v=v1;g=meta.k8s.io"
        call = client.call("selfsubjectaccessreviews", "", "", "create", headers={"Accept": accept})
        with pytest.raises(StatusError) as refused:
            answer_form(call)
        assert (refused.value.status, refused.value.reason) == (406, "NotAcceptable")


async def test_a_review_is_answered_as_json_or_yaml() -> None:
    async with bench() as client:
        for media in ("application/json", "application/yaml"):
            call = client.call("selfsubjectaccessreviews", "", "", "create", headers={"Accept": media})
            assert answer_form(call).media == media

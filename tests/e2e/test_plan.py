"""`crossply plan`: what it says would happen is what happens, and asking changes nothing."""

from __future__ import annotations

import copy

import pytest

from crossply.compose.messages import SEVERITY_FATAL, SEVERITY_WARNING, Response, Result
from tests.e2e.first_design import FirstDesign
from tests.e2e.pipelines import SIZE, calling, entry, patch, resources, served
from tests.e2e.planning import Plans, walk
from tests.e2e.scenario import COMPOSITION, CONFIG_MAP, condition
from tests.e2e.things import DEFINITION_V2, READY, SCHEMA, SYNCED, Things

pytestmark = pytest.mark.xdist_group("e2e")

STATUS = patch("data.size", "status.size", "ToCompositeFieldPath")


@pytest.fixture
def plan(play, tmp_path):
    """Play a scenario that is given its `Plans`, too."""

    def run(scenario):
        play(lambda s: scenario(s, Plans(s, tmp_path)))

    return run


def composition(things: Things, *pipeline, name: str = "") -> dict:
    return {
        "apiVersion": COMPOSITION.api_version,
        "kind": COMPOSITION.kind,
        "metadata": {"name": name or things.s.id},
        "spec": {
            "compositeTypeRef": {"apiVersion": things.kind.api_version, "kind": things.kind.kind},
            "mode": "Pipeline",
            "pipeline": list(pipeline),
        },
    }


async def settled(s, *pipeline, scope: str = "Namespaced", spec=None) -> Things:
    """One XR that is made of what the pipeline composes."""
    things = await Things.defined(s, scope)
    await things.compose(*pipeline)
    await things.apply("mine", spec or {"size": "3"})
    await things.until("mine", SYNCED, READY)
    return things


def node_of(planned, kind: str, name: str = "") -> dict:
    [found] = [
        each
        for each in planned.nodes()
        if each["kind"] == kind and name in (each.get("resource"), each["name"], "")
    ]
    return found


def test_a_new_xr_is_planned_with_all_that_it_becomes(plan):
    async def scenario(s, plans):
        things = await Things.defined(s)
        await things.compose(resources(entry("one", SIZE, STATUS), entry("two")))
        planned = await plans.come_true(things.body("mine", {"size": "3"}))
        assert planned.code == 3
        assert planned.actions() == {"mine": "create", "one": "create", "two": "create"}
        assert node_of(planned, "ConfigMap", "one")["name"] == "mine-(generated)"
        fields = {each["path"]: each.get("after") for each in node_of(planned, "Thing")["fields"]}
        assert fields["status.size"] == "3"
        assert fields["status.conditions[Ready].status"] == "True"

    plan(scenario)


def test_a_changed_field_is_planned_through_to_what_is_composed(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE, STATUS), entry("two")))
        planned = await plans.come_true(things.body("mine", {"size": "4"}))
        assert planned.actions() == {"mine": "change", "one": "change", "two": "unchanged"}
        assert node_of(planned, "ConfigMap", "one")["fields"] == [
            {"path": "data.size", "before": "3", "after": "4"}
        ]

    plan(scenario)


def test_a_field_that_is_taken_out_is_planned_to_go(plan):
    async def scenario(s, plans):
        mode = patch("spec.mode", "data.mode")
        things = await settled(s, resources(entry("one", SIZE, mode)), spec={"size": "3", "mode": "fast"})
        planned = await plans.come_true(things.body("mine", {"size": "3"}))
        assert node_of(planned, "ConfigMap", "one")["fields"] == [{"path": "data.mode", "before": "fast"}]

    plan(scenario)


def test_a_resource_that_leaves_the_composition_is_planned_to_be_deleted(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE), entry("two")))
        planned = await plans.come_true(composition(things, resources(entry("one", SIZE))))
        gone = node_of(planned, "ConfigMap", "two")
        assert (gone["action"], gone["reason"]) == ("delete", "the pipeline no longer composes it")
        assert planned.actions()["one"] == "unchanged"

    plan(scenario)


@pytest.mark.parametrize("scope", ["Namespaced", "LegacyCluster"])
def test_a_changed_composition_is_planned_for_every_xr_that_follows_it(plan, scope):
    async def scenario(s, plans):
        things = await Things.defined(s, scope)
        home = {"metadata": {"namespace": s.id}}
        await things.compose(resources(entry("one", SIZE, base=home)))
        for name in ("a", "b", "c", "d"):
            await things.apply(f"{s.id}-{name}", {"size": name})
        await things.apply(
            f"{s.id}-held", {"size": "5", **things.engine_spec(compositionUpdatePolicy="Manual")}
        )
        for name in ("a", "b", "c", "d", "held"):
            await things.until(f"{s.id}-{name}", SYNCED, READY)
        changed = composition(things, resources(entry("one", SIZE, base={**home, "data": {"new": "yes"}})))
        planned = await plans.come_true(changed)
        summary = planned.document["summary"]
        assert summary["composites"] == {"create": 0, "change": 4, "delete": 0, "unchanged": 1, "fail": 0}
        assert summary["resources"] == {"create": 0, "change": 4, "delete": 0, "unchanged": 0}
        [note] = node_of(planned, things.kind.kind, f"{s.id}-held")["notes"]
        assert note.endswith("its compositionUpdatePolicy is Manual")
        assert node_of(planned, "CompositionRevision")["action"] == "create"

    plan(scenario)


async def nested(s) -> tuple[Things, Things]:
    """An Outer that composes a Thing, which composes a ConfigMap; the size goes down and comes up."""
    inner = await Things.defined(s)
    outer = await Things.defined(s, kind="Outer")
    await inner.compose(resources(entry("leaf", SIZE, STATUS)), name=f"{s.id}-inner")
    base = {"apiVersion": inner.kind.api_version, "kind": inner.kind.kind}
    child = entry(
        "child",
        patch("spec.size", "spec.size"),
        patch("status.size", "status.size", "ToCompositeFieldPath"),
        base=base,
    )
    await outer.compose(resources(child), name=f"{s.id}-outer")
    return outer, inner


def test_nested_xrs_are_followed(plan):
    async def scenario(s, plans):
        outer, _ = await nested(s)
        made = await plans.come_true(outer.body("top", {"size": "3"}))
        assert made.actions() == {"top": "create", "child": "create", "leaf": "create"}
        [top] = made.document["composites"]
        assert [each["kind"] for each in walk(top)] == ["Outer", "Thing", "ConfigMap"]
        changed = await plans.come_true(outer.body("top", {"size": "4"}))
        assert changed.actions() == {"top": "change", "child": "change", "leaf": "change"}
        told = {each["path"]: each.get("after") for each in node_of(changed, "Outer")["fields"]}
        assert told == {"spec.size": "4", "status.size": "4"}

    plan(scenario)


def test_a_composition_of_nested_xrs_is_planned_below_what_composes_them(plan):
    async def scenario(s, plans):
        outer, inner = await nested(s)
        await outer.apply("top", {"size": "3"})
        await outer.until("top", SYNCED, READY, lambda xr: xr["status"].get("size") == "3")
        fixed = patch(
            "spec.size",
            "data.size",
            transforms=[{"type": "string", "string": {"fmt": "%s!", "type": "Format"}}],
        )
        planned = await plans.come_true(
            composition(inner, resources(entry("leaf", fixed, STATUS)), name=f"{s.id}-inner")
        )
        [top] = planned.document["composites"]
        assert [each["kind"] for each in walk(top)] == ["Outer", "Thing", "ConfigMap"]
        assert node_of(planned, "Outer")["fields"] == [{"path": "status.size", "before": "3", "after": "3!"}]

    plan(scenario)


def test_nothing_to_do_is_said_and_exits_with_0(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE), entry("two")))
        for obj in (
            things.body("mine", {"size": "3"}),
            composition(things, resources(entry("one", SIZE), entry("two"))),
        ):
            planned = await plans.of(obj, words=())
            assert planned.code == 0, planned.text
            assert "0 resources to create, 0 to change, 0 to delete" in planned.text

    plan(scenario)


def test_nothing_is_written(plan):
    async def scenario(s, plans):
        home = {"metadata": {"namespace": s.id}}
        pipeline = resources(entry("one", SIZE, base=home), entry("two", base=home))
        things = await settled(s, pipeline, scope="LegacyCluster")
        before = await plans.versions(things)
        assert len(before) > 5
        new = things.body(f"{s.id}-new", {"size": "1"})
        changed = things.body("mine", {"size": "9"})
        other = composition(things, resources(entry("three", base=home)))
        for objects in ((new,), (changed,), (other,), (new, changed, other)):
            assert (await plans.of(*objects)).code == 3
        assert (await plans.run("--delete", "-f", "-", stdin=str(changed))).code == 3
        assert await plans.versions(things) == before

    plan(scenario)


def test_secrets_are_never_shown(plan):
    async def scenario(s, plans):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": s.id}}
        word = patch("spec.size", "stringData.word")
        things = await settled(s, resources(entry("hidden", word, base=secret)), spec={"size": "hush-1"})
        changed = things.body("mine", {"size": "hush-1", "mode": "x"})
        kept = await plans.of(changed)
        assert "data.word" not in kept.text
        pipeline = resources(
            entry("hidden", base={**secret, "data": {"word": "aHVzaC0y", "more": "aHVzaC0z"}})
        )
        planned = await plans.of(composition(things, pipeline))
        fields = node_of(planned, "Secret")["fields"]
        assert {each["path"] for each in fields} == {"data.word", "data.more"}
        assert all(each["secret"] for each in fields)
        text = (await plans.of(composition(things, pipeline), words=())).text
        assert "data.word: (secret) would change" in text

    plan(scenario)


def test_what_a_function_says_and_what_fails_is_told(plan):
    async def scenario(s, plans):
        async def answer(severity, message):
            things = await Things.defined(s, kind=f"Kind{len(message)}")
            with served(
                lambda request: Response(request.desired, results=(Result(severity, message),))
            ) as address:
                await things.compose(
                    await calling(s, address, f"step{len(message)}"), name=f"{s.id}-{len(message)}"
                )
                return await plans.of(things.body("mine", {"size": "1"}))

        warned = await answer(SEVERITY_WARNING, "mind the gap")
        assert warned.code == 3
        assert warned.nodes()[0]["warnings"] == ['Pipeline step "step12": mind the gap']
        failed = await answer(SEVERITY_FATAL, "no way through")
        assert failed.code == 1
        assert "returned a fatal result: no way through" in failed.nodes()[0]["error"]

    plan(scenario)


def test_a_resource_that_the_api_refuses_is_told(plan):
    async def scenario(s, plans):
        things = await Things.defined(s)
        await things.compose(resources(entry("bad", patch("spec.count", "data.count"))))
        planned = await plans.of(things.body("mine", {"count": 3}))
        assert planned.code == 1
        [node] = planned.nodes()
        assert any(
            'cannot apply composed resource "bad"' in each
            for each in (*node.get("warnings", ()), node["error"])
        )

    plan(scenario)


@pytest.mark.parametrize(
    ("obj", "said", "hint"),
    [
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "a ConfigMap has no name", "metadata.name"),
        ({"apiVersion": "v1"}, "Object 'Kind' is missing", "every object needs kind"),
    ],
)
def test_objects_that_cannot_be_planned_are_refused_with_the_next_step(plan, obj, said, hint):
    async def scenario(s, plans):
        planned = await plans.of(obj)
        assert planned.code == 1
        assert said in planned.said
        assert hint in planned.said

    plan(scenario)


def test_an_object_of_an_unknown_kind_is_told_beside_the_rest(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE)))
        unknown = {"apiVersion": "nowhere.example.org/v1", "kind": "What", "metadata": {"name": "it"}}
        planned = await plans.of(unknown, things.body("mine", {"size": "4"}))
        assert planned.code == 1
        assert node_of(planned, "What")["error"].startswith('no matches for kind "What"')
        assert node_of(planned, "ConfigMap")["action"] == "change"

    plan(scenario)


def definition(things: Things, **size) -> dict:
    """The definition of things, with other rules for their size."""
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["spec"]["properties"]["size"] = {"type": "string", **size}
    version = {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": DEFINITION_V2.api_version,
        "kind": DEFINITION_V2.kind,
        "metadata": {"name": things.kind.resource},
        "spec": {
            "scope": things.scope,
            "group": things.kind.group,
            "names": {"kind": things.kind.kind, "plural": things.kind.plural},
            "versions": [version],
        },
    }


def test_a_whole_platform_is_planned_before_anything_of_it_exists(plan):
    async def scenario(s, plans):
        things = Things(s)
        planned = await plans.come_true(
            definition(things, default="7"),
            composition(things, resources(entry("one", SIZE, STATUS))),
            things.body("mine"),
        )
        assert {each["action"] for each in planned.nodes()} == {"create"}
        assert node_of(planned, "CustomResourceDefinition")["name"] == things.kind.resource
        told = {each["path"]: each["after"] for each in node_of(planned, "ConfigMap")["fields"]}
        assert told["data.size"] == "7"

    plan(scenario)


def test_a_changed_definition_is_planned_for_the_xrs_of_its_kind(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE)))
        await things.apply("bare", {"mode": "x"})
        await things.until("bare", SYNCED, READY)
        stricter = await plans.of(definition(things, pattern="^9"))
        assert stricter.code == 1
        assert "would not be valid any more" in node_of(stricter, "Thing", "mine")["error"]
        assert "spec.size" in node_of(stricter, "Thing", "mine")["error"]
        filled = await plans.of(definition(things, default="9"))
        assert filled.code == 3
        assert node_of(filled, "Thing", "mine")["action"] == "unchanged"
        assert node_of(filled, "Thing", "bare")["fields"] == [{"path": "spec.size", "after": "9"}]

    plan(scenario)


def test_a_connection_secret_is_planned_by_its_keys_only(plan):
    async def scenario(s, plans):
        things = await Things.defined(s, "LegacyCluster")
        details = [{"name": "word", "type": "FromValue", "value": "hush"}]
        home = {"metadata": {"namespace": s.id}}
        await things.compose(resources(entry("one", SIZE, base=home, connectionDetails=details)))
        place = {"writeConnectionSecretToRef": {"namespace": s.id, "name": "details"}}
        planned = await plans.come_true(things.body(s.id, {"size": "3", **place}))
        secret = node_of(planned, "Secret")
        assert (secret["action"], secret["resource"]) == ("create", "connection secret")
        assert {"path": "data.word", "after": "(secret)", "secret": True} in secret["fields"]
        assert "aHVzaA" not in planned.text
        assert "hush" not in planned.text

    plan(scenario)


def test_a_paused_xr_is_told_to_stay_as_it_is(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE)))
        await things.change("mine", {"metadata": {"annotations": {"crossplane.io/paused": "true"}}})
        await things.until("mine", condition("Synced", "False", "ReconcilePaused"))
        planned = await plans.of(composition(things, resources(entry("one", SIZE), entry("two"))))
        assert node_of(planned, "Thing")["notes"] == ["is paused by its annotation crossplane.io/paused"]
        assert node_of(planned, "Thing")["action"] == "unchanged"

    plan(scenario)


def test_an_invalid_xr_is_told_with_the_servers_own_words(plan):
    async def scenario(s, plans):
        things = await Things.defined(s)
        planned = await plans.of(things.body("mine", {"count": "three"}))
        assert planned.code == 1
        assert "spec.count" in planned.nodes()[0]["error"]

    plan(scenario)


def test_an_xr_that_would_be_composed_by_another_composition_says_so(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE)))
        other = f"{s.id}-other"
        await things.compose(resources(entry("one", SIZE, base={"data": {"b": "b"}})), name=other)
        body = things.body("mine", {"size": "3", **things.engine_spec(compositionRef={"name": other})})
        planned = await plans.come_true(body)
        [note] = node_of(planned, "Thing")["notes"]
        assert note == f"would be composed by {other} instead of {s.id}"

    plan(scenario)


def test_a_claim_is_planned_with_its_composite_resource(plan):
    async def scenario(s, plans):
        await s.offer()
        await s.compose(s.config_map())
        body = {
            "apiVersion": s.api_version,
            "kind": "Db",
            "metadata": {"name": "mine", "namespace": s.id},
            "spec": {"size": "3"},
        }
        made = await plans.come_true(body)
        assert [each["kind"] for each in made.nodes()] == ["Db", "XDb", "ConfigMap"]
        assert {each["action"] for each in made.nodes()} == {"create"}
        changed = await plans.come_true({**body, "spec": {"size": "4"}})
        assert {each["action"] for each in changed.nodes()} == {"change"}

    plan(scenario)


def test_a_requirement_is_planned_with_its_infrastructure(plan):
    async def scenario(s, plans):
        design = FirstDesign(s)
        await design.serve_servers()
        await design.define_sql()
        await design.publish()
        await design.compose_sql()
        body = {
            "apiVersion": design.requirements.api_version,
            "kind": design.requirements.kind,
            "metadata": {"name": "mine", "namespace": s.id},
            "spec": {"region": "west", "storageGB": 10},
        }
        made = await plans.of(body)
        assert made.code == 3, made.text
        assert [each["kind"] for each in made.nodes()] == ["SqlRequirement", "Sql", "Server", "Secret"]
        assert {each["action"] for each in made.nodes()} == {"create"}
        await plans.apply(body)
        await design.bound()
        await s.eventually(lambda: _is_settled(plans, body))
        changed = await plans.come_true({**body, "spec": {"region": "west", "storageGB": 20}})
        [storage] = [each for each in node_of(changed, "Server")["fields"] if "storage" in each["path"]]
        assert storage == {"path": "spec.storageMB", "before": 10240, "after": 20480}

    plan(scenario)


async def _is_settled(plans, body) -> bool:
    """Whether there is nothing left to do for an object."""
    return (await plans.of(body)).code == 0


def test_a_composition_that_is_chosen_at_random_is_said_to_be(plan):
    async def scenario(s, plans):
        things = await Things.defined(s)
        for name in ("a", "b"):
            await things.compose(resources(entry("one", SIZE)), name=f"{s.id}-{name}")
        planned = await plans.of(things.body("mine", {"size": "1"}))
        assert node_of(planned, "Thing")["notes"] == [
            f"its Composition is chosen at random from: {s.id}-a, {s.id}-b"
        ]
        named = things.engine_spec(compositionRef={"name": f"{s.id}-a"})
        planned = await plans.of(things.body("mine", {"size": "1", **named}))
        assert "notes" not in node_of(planned, "Thing")

    plan(scenario)


def test_a_composition_that_cannot_be_read_is_refused(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE)))
        body = composition(things, resources(entry("one", SIZE)))
        body["spec"]["pipeline"].append(body["spec"]["pipeline"][0])
        planned = await plans.of(body)
        assert planned.code == 1
        assert "spec.pipeline" in node_of(planned, "Composition")["error"]

    plan(scenario)


def test_a_deletion_is_planned_with_all_that_goes(plan):
    async def scenario(s, plans):
        outer, _ = await nested(s)
        await outer.apply("top", {"size": "3"})
        await outer.until("top", SYNCED, READY)
        planned = await plans.run("--delete", "-f", "-", "-o", "json", stdin=str(outer.body("top")))
        assert planned.code == 3
        assert {each["kind"]: each["action"] for each in planned.nodes()} == {
            "Outer": "delete",
            "Thing": "delete",
            "ConfigMap": "delete",
        }
        assert (await s.client.list(CONFIG_MAP, s.id, label_selector="crossplane.io/composite")).items

    plan(scenario)


def test_the_deletion_of_a_definition_is_planned_with_its_xrs(plan):
    async def scenario(s, plans):
        things = await settled(
            s, resources(entry("one", SIZE, base={"metadata": {"namespace": s.id}})), scope="LegacyCluster"
        )
        gone = await plans.run("--delete", "-f", "-", "-o", "json", stdin=str(definition(things)))
        assert {each["kind"]: each["action"] for each in gone.nodes()} == {
            "CompositeResourceDefinition": "delete",
            "CustomResourceDefinition": "delete",
            "Thing": "delete",
            "ConfigMap": "delete",
        }
        kept = await Things.defined(s, kind="Kept")
        await kept.apply("mine")
        planned = await plans.run("--delete", "-f", "-", "-o", "json", stdin=str(definition(kept)))
        assert node_of(planned, "Kept")["notes"] == ["must be deleted first: its definition waits for it"]

    plan(scenario)


def test_the_tree_for_people_shows_what_happens_to_what(plan):
    async def scenario(s, plans):
        things = await settled(s, resources(entry("one", SIZE), entry("two"), entry("old")))
        body = things.body("mine", {"size": "<4>"})
        planned = await plans.of(
            composition(things, resources(entry("one", SIZE), entry("two"), entry("new"))), body, words=()
        )
        lines = planned.text.splitlines()
        assert f"~ Thing {s.id}/mine" in lines
        assert '  ~ spec.size: "3" → "<4>"' in lines
        assert '    ~ data.size: "3" → "<4>"' in lines
        assert any(line.startswith("  + ConfigMap") and line.endswith("(new)") for line in lines)
        assert any(line.endswith("(old): the pipeline no longer composes it") for line in lines)
        assert "  = 1 unchanged" in lines
        assert lines[-1] == "1 XR: 1 to change; 1 resource to create, 1 to change, 1 to delete"
        assert "\x1b" not in planned.text

    plan(scenario)

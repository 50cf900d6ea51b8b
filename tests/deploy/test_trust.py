"""rbac-composition: a user who may write only Compositions and XRs cannot exceed the aggregated roles."""

from __future__ import annotations

import pytest

from crossply.kube.client import Client
from crossply.kube.failures import Forbidden
from crossply.kube.kind import Kind
from tests.support.chart_installation import CLUSTER_ROLE
from tests.support.e2e.advice import roles_in, run_advised_commands
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import CONFIG_MAP, CRD, DEFINITION, SECRET
from tests.support.e2e.things import READY, SYNCED, Things, failing, message_of

pytestmark = pytest.mark.xdist_group("deploy")

RBAC = "rbac.authorization.k8s.io"
BINDING = Kind(RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", False)
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases", True)
WEBHOOKS = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    False,
)
KEEPER = "crossply:keeper"
GATHERED = {"rbac.crossplane.io/aggregate-to-crossplane": "true"}
ALL = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
OF_PROVIDERS = {
    "apiGroups": ["", "coordination.k8s.io"],
    "resources": ["secrets", "configmaps", "events", "leases"],
    "verbs": ["*"],
}
HOME = "crossplane-system"


def binding(name):
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"apiGroup": RBAC, "kind": "User", "name": "mallory"}
    return {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}


def loot(name):
    """Compositions that try to escalate privileges, and why they would help."""
    token = {"kubernetes.io/service-account.name": "crossply"}
    names = {"kind": "Loot", "plural": "loots"}
    group = f"{name}.example.org"
    return [
        (BINDING, binding(name), "it makes somebody an administrator"),
        (
            CLUSTER_ROLE,
            {"metadata": {"name": name, "labels": GATHERED}, "rules": [ALL]},
            "we would gather it",
        ),
        (SECRET, {"metadata": {"name": name, "namespace": HOME, "annotations": token}}, "a token of ours"),
        (LEASE, {"metadata": {"name": name, "namespace": HOME}}, "it says who works on what"),
        (
            CRD,
            {"metadata": {"name": f"loots.{group}"}, "spec": {"names": names}},
            "it changes what a kind is",
        ),
        (DEFINITION, {"metadata": {"name": f"loots.{group}"}}, "definitions make kinds and roles"),
        (
            WEBHOOKS,
            {"metadata": {"name": "crossply-no-usages"}},
            "it is told of everything that is deleted",
        ),
    ]


def attempt(kind, fields):
    return entry("loot", base={"apiVersion": kind.api_version, "kind": kind.kind, **fields})


async def compose_as_author(s, things, name, step):
    """The actions of a user who may write Compositions and composite resources."""
    await things.compose(step, name=name)
    await things.apply(name, things.engine_spec(compositionRef={"name": name}))


async def test_a_composition_makes_the_engine_write_nothing_that_was_not_granted(s):
    things = await Things.defined(s, scope="Cluster")
    rows = loot(s.id)
    for number, (kind, fields, _) in enumerate(rows):
        await compose_as_author(s, things, f"{s.id}-{number}", resources(attempt(kind, fields)))
    for number, (kind, fields, why) in enumerate(rows):
        xr = await things.until(f"{s.id}-{number}", failing("to grant it: "))
        assert f'resource "{kind.plural}" in API group "{kind.group}"' in message_of(xr), why
        namespace = fields["metadata"].get("namespace", "")
        if kind is not WEBHOOKS:
            assert await s.client.get(kind, fields["metadata"]["name"], namespace) is None, why


async def withdraw(s, *messages):
    """Delete the roles that following the advice of these messages made."""
    for name in {role for message in messages for role in roles_in(message)}:
        await s.client.delete(CLUSTER_ROLE, name)


async def test_the_condition_has_the_command_to_run_and_then_it_works(s):
    things = await Things.defined(s)
    await compose_as_author(s, things, "mine", resources(entry()))
    message = message_of(await things.until("mine", failing("to grant it: ")))
    assert f"service account {HOME}/crossply may not" in message
    await run_advised_commands(s, message)
    xr = await things.until("mine", READY)
    assert await things.composed(xr)
    await withdraw(s, message)


async def test_one_set_of_commands_grants_all_kinds_that_a_composition_composes(s):
    things = await Things.defined(s)
    lease = {"apiVersion": LEASE.api_version, "kind": LEASE.kind}
    await compose_as_author(s, things, s.id, resources(entry("one"), entry("two", base=lease)))
    message = message_of(await things.until(s.id, failing("to grant it: ")))
    [role] = roles_in(message)
    assert role.startswith(f"crossplane:composed:{s.id}:")
    await run_advised_commands(s, message)
    await things.until(s.id, READY)
    await run_advised_commands(s, message)
    await withdraw(s, message)


async def test_the_advice_for_one_composition_takes_nothing_from_another(s):
    things = await Things.defined(s)
    lease = {"apiVersion": LEASE.api_version, "kind": LEASE.kind}
    steps = {f"{s.id}-a": resources(entry()), f"{s.id}-b": resources(entry("two", base=lease))}
    for name, step in steps.items():
        await compose_as_author(s, things, name, step)
    messages = [message_of(await things.until(name, failing("to grant it: "))) for name in steps]
    for message in messages:
        await run_advised_commands(s, message)
    for name in steps:
        await things.until(name, READY)
    for message in messages:
        await run_advised_commands(s, message)
    for name in steps:
        await things.change(name, {"spec": {"size": "2"}})
        xr = await things.until(name, READY, SYNCED)
        assert await things.composed(xr, CONFIG_MAP if name.endswith("-a") else LEASE)
    await withdraw(s, *messages)


async def test_the_right_to_compose_bindings_still_grants_nothing_beyond_ones_own_rights(s):
    things = await Things.defined(s, scope="Cluster")
    await compose_as_author(s, things, s.id, resources(attempt(BINDING, binding(s.id))))
    message = message_of(await things.until(s.id, failing("to grant it: ")))
    await run_advised_commands(s, message)
    await things.until(s.id, failing("attempting to grant RBAC permissions not currently held"))
    assert await s.client.get(BINDING, s.id) is None
    await withdraw(s, message)


@pytest.mark.parametrize(
    ("name", "rules", "reason"),
    [
        ("evil", [{**ALL, "apiGroups": ["example.org"], "resources": ["things"]}], "no role of a definition"),
        ("crossplane:composite:a", [ALL], "everything"),
        ("crossplane:composite:a", [{**ALL, "apiGroups": [""], "resources": ["secrets"]}], "secrets"),
        ("crossplane:composite:a", [{**ALL, "apiGroups": [RBAC], "resources": ["roles"]}], "roles"),
        ("crossplane:composite:a", [{"nonResourceURLs": ["*"], "verbs": ["*"]}], "all paths"),
        ("crossplane:composite:a:system", [OF_PROVIDERS], "what only the role of a provider itself grants"),
        ("crossplane:provider:a:system", [{**ALL, "apiGroups": [RBAC], "resources": ["roles"]}], "roles"),
        ("crossplane:provider:a:system", [{**ALL, "apiGroups": [""], "resources": ["pods"]}], "pods"),
    ],
)
async def test_the_user_that_writes_roles_grants_nothing_of_kubernetes_itself(s, name, rules, reason):
    keeper = s.client.acting_as(KEEPER)
    name = name.replace(":a", f":a{s.id}") if ":a" in name else f"{name}{s.id}"
    await s.eventually(lambda: refuses(keeper, {"metadata": {"name": name}, "rules": rules}))


async def test_the_role_of_a_provider_grants_secrets_only_to_its_bound_subjects(s):
    keeper, name = s.client.acting_as(KEEPER), f"crossplane:provider:{s.id}:system"
    role = {"metadata": {"name": name, "labels": GATHERED}, "rules": [OF_PROVIDERS]}
    await s.eventually(lambda: refuses(keeper, role))
    assert not await refuses(keeper, {"metadata": {"name": name}, "rules": [OF_PROVIDERS]})


async def refuses(client, role):
    """Whether a role is refused; a policy takes effect shortly after it was written."""
    try:
        await client.create(CLUSTER_ROLE, role)
    except Forbidden as problem:
        return "this user writes the roles" in str(problem) or "nothing of Kubernetes itself" in str(problem)
    await client.acting_as("admin", ["system:masters"]).delete(CLUSTER_ROLE, role["metadata"]["name"])
    return False


async def test_a_definition_of_a_kind_of_kubernetes_brings_no_roles(s):
    name = f"{s.id}s.{RBAC}"
    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "referenceable": True, "schema": schema}
    spec = {"group": RBAC, "names": {"kind": s.id.title(), "plural": f"{s.id}s"}, "versions": [version]}
    body = {"apiVersion": DEFINITION.api_version, "kind": DEFINITION.kind, "metadata": {"name": name}}
    applied = await s.client.apply(DEFINITION, {**body, "spec": spec}, "test")

    async def refused():
        return any(reason == "EstablishComposite" for _, reason, _ in await s.events(applied))

    await s.eventually(refused)
    assert await s.client.get(CLUSTER_ROLE, f"crossplane:composite:{name}:aggregate-to-edit") is None
    await s.client.delete(DEFINITION, name)


@pytest.mark.parametrize(
    "user", ["admin", "system:serviceaccount:kube-system:clusterrole-aggregation-controller"]
)
async def test_the_controllers_cannot_impersonate_other_users(installed, s, user):
    async with Client(installed.account) as account:
        with pytest.raises(Forbidden, match="cannot impersonate"):
            await account.acting_as(user, ["system:masters"]).get(CONFIG_MAP, "any", s.id)

"""`trace` finds a resource by any of its names and shows everything below it, as Crossplane does."""

from __future__ import annotations

import json

import pytest

from crossply.cli.main import main
from crossply.values.yaml import load
from tests.support.cli.trace_cluster import ACME, LONG
from tests.support.server_process import CROSSPLY
from tests.support.terminal import terminal

CORNER = """\
NAME                        SYNCED   READY   STATUS
Shop/corner (town)          True     True    Available
├─ Shelf/a (town)           True     True    Available
├─ Shelf/b (town)           True     False   Creating: waiting for wood
└─ ConfigMap/paint (town)   -        -       {nothing}
""".format(nothing="")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("shop corner", "the singular name"),
        ("shops corner", "the plural name"),
        ("sp corner", "a short name"),
        ("Shop corner", "the kind"),
        ("SHOPS corner", "names are read without regard to case"),
        ("shop/corner", "the name behind a slash"),
        ("shop.acme.test corner", "a group"),
        ("shop.acme/corner", "the beginning of a group"),
        ("shops.v1.acme.test/corner", "a version and a group"),
        ("shop corner --concurrency 1", "one request at a time"),
        ("shop corner --concurrency 0", "a concurrency that makes no sense is the usual one"),
    ],
)
def test_a_resource_is_accepted_by_any_of_its_names(trace, words: str, reason: str) -> None:
    assert trace(f"{words} -n town") == (0, CORNER, ""), reason


def test_an_explicit_version_is_read(trace) -> None:
    code, out, _ = trace("shop.v1beta1.acme.test corner -n town -o json")
    assert (code, json.loads(out)["object"]["apiVersion"]) == (0, "acme.test/v1beta1")


@pytest.mark.parametrize("path", [["resource", "trace"], ["beta", "trace"]])
def test_other_names_of_the_command_do_the_same(world, monkeypatch, capsys, path: list[str]) -> None:
    monkeypatch.setenv("KUBECONFIG", world.kubeconfig)
    assert main([*path, "shop/corner", "-n", "town"]) == 0
    assert capsys.readouterr().out == CORNER


def test_a_missing_or_broken_resource_is_a_row_with_the_error_and_the_end_of_a_long_message(trace) -> None:
    code, out, err = trace("shop ruin -n town")
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == [
        f"Shop/ruin (town)       False    False   ReconcileError: ...{LONG[-64:]}",
        '├─ Shelf/gone (town)   -        -       Error: shelves.acme.test "gone" not found',
        "└─ Lamp/l (town)       -        -       "
        'Error: no matches for kind "Lamp" in version "light.test/v1"',
    ]


def test_wide_shows_whole_messages_and_the_names_in_the_composition(trace) -> None:
    _, out, _ = trace("shop ruin -n town -o wide")
    assert f"ReconcileError: {LONG}\n" in out
    _, out, _ = trace("shop corner -n town -o wide")
    assert out.splitlines()[2] == "├─ Shelf/a (town)           the-a      True     True    Available"


def test_with_wide_the_causes_and_the_next_commands_are_on_stderr(trace) -> None:
    _, _, err = trace("shop ruin -n town -o wide")
    assert err.splitlines()[0] == "Not ready because of:"
    assert '  Shelf/gone (town): shelves.acme.test "gone" not found' in err.splitlines()
    assert "    next: crossply explain shops.acme.test/ruin -n town" in err.splitlines()
    assert "    next: crossply explain providers.pkg.crossplane.io/sky" in err.splitlines()


def test_a_claim_leads_to_its_xr_and_its_composed_resources_in_both_places(trace) -> None:
    _, out, _ = trace("stall claim -n town")
    assert out.splitlines()[1:] == [
        "Stall/claim (town)     True     False   Waiting",
        "└─ XStall/xr           True     False   Creating: waiting for wood",
        "   ├─ Shelf/b (town)   True     False   Creating: waiting for wood",
        "   └─ Shelf/nowhere    -        -       "
        "Error: ... empty namespace may not be set when a resource name is provided",
    ]


def test_connection_secrets_are_shown_on_request(trace) -> None:
    _, out, _ = trace("stall claim -n town -s")
    assert "└─ Secret/keys (town)" in out
    _, out, _ = trace("shop corner -n town --show-connection-secrets")
    assert out.count("│  └─ Secret/keys (town)") == 1, "the shelf's, not one of the shop"


def test_references_that_lead_in_a_circle_are_followed_once(trace) -> None:
    _, out, _ = trace("shop mirror -n town")
    assert out.count("Shop/mirror (town)") == 2


def test_without_a_name_all_of_the_kind_are_shown(trace) -> None:
    code, out, _ = trace("shop -n town")
    roots = [line.split(" ")[0] for line in out.splitlines()[1:] if line.startswith("Shop")]
    assert (code, roots) == (0, ["Shop/corner", "Shop/mirror", "Shop/new", "Shop/ruin"])


def test_json_nests_objects_errors_and_children(trace) -> None:
    _, out, _ = trace("shop ruin -n town -o json")
    tree = json.loads(out)
    missing, lamp = sorted(tree["children"], key=lambda child: child["object"]["kind"], reverse=True)
    assert missing["object"] == {
        "apiVersion": ACME,
        "kind": "Shelf",
        "metadata": {"name": "gone", "namespace": "town"},
    }
    assert missing["error"]["ErrStatus"]["details"] == {
        "name": "gone",
        "group": "acme.test",
        "kind": "shelves",
    }
    assert missing["error"]["ErrStatus"]["code"] == 404
    assert lamp["error"] == {"GroupKind": {"Group": "light.test", "Kind": "Lamp"}, "SearchedVersions": ["v1"]}


def test_json_is_written_as_go_writes_it(trace) -> None:
    _, out, _ = trace("configmap paint -n town -o json")
    assert '"colour": "red \\u0026 \\u003cblue\\u003e"' in out
    keys = list(json.loads(out)["object"])
    assert keys == sorted(keys)


def test_yaml_equals_json(trace) -> None:
    _, as_json, _ = trace("shop corner -n town -o json")
    _, as_yaml, _ = trace("shop corner -n town -o yaml")
    assert load(as_yaml) == json.loads(as_json)


HINT = (
    'crossply: try: there is no Shop in the namespace "default": name another with -n; '
    "kubectl get shops.acme.test -A lists those of all namespaces\n"
    "crossply: see: crossply explain CP-580, or https://crossply.dev/reference/errors/#cp-580\n"
    "crossply: error: "
)


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("json", (0, '{\n  "items": []\n}\n', "")),
        ("yaml", (0, "items: []\n\n", "")),
        (
            "default",
            (1, "", f"{HINT}cannot print output: cannot print resource tree: resource list is empty\n"),
        ),
        ("dot", (1, "", f"{HINT}cannot print output: resource list is empty\n")),
    ],
)
@pytest.mark.parametrize("flag", ["-n default ", ""])
def test_an_empty_list_is_data_but_no_table(
    trace, form: str, answer: tuple[int, str, str], flag: str
) -> None:
    assert trace(f"shop {flag}-o {form}") == answer


VERIFY = "(verify context, namespace, and that the resource exists)"


FORM = "'TYPE[.VERSION][.GROUP][/NAME]' format"
GET, MAP, WORDS = (
    "cannot get requested resource",
    "cannot get mapping for resource",
    "invalid resource and name",
)
TWICE = "name provided twice, must be provided separately 'TYPE[.VERSION][.GROUP] [NAME]' or in the"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            "shop none -n town",
            1,
            f'{GET}: kind=Shop name=none namespace=town {VERIFY}: shops.acme.test "none" not found',
        ),
        (
            "shop corner",
            1,
            f'{GET}: kind=Shop name=corner namespace=default {VERIFY}: shops.acme.test "corner" not found',
        ),
        (
            "xstall none",
            1,
            f'{GET}: kind=XStall name=none namespace= {VERIFY}: xstalls.acme.test "none" not found',
        ),
        ("gizmo x", 1, f'{MAP}: the server doesn\'t have a resource type "gizmo"'),
        ("shop.v9.acme.test x", 1, f'{MAP}: the server doesn\'t have a resource type "shop"'),
        ("shop/corner corner", 1, f"{WORDS}: {TWICE} {FORM}"),
        ("shop/corner/2", 1, f"{WORDS}: invalid resource, must be provided in the {FORM}"),
        ("shop corner -c elsewhere", 1, 'failed to get kubeconfig: context "elsewhere" does not exist'),
        ("shop corner --as-group g", 1, "requesting uid, groups or user-extra without impersonating a user"),
        ("shop corner --concurrency x", 80, '--concurrency: expected a valid 64 bit int but got "x"'),
    ],
)
def test_an_untraceable_resource_is_reported_in_the_last_line(
    trace, words: str, code: int, sentence: str
) -> None:
    actual, _, err = trace(words)
    assert (actual, err.splitlines()[-1]) == (code, f"crossply: error: {sentence}")


RBAC = "rbac.authorization.k8s.io"
GUEST = [
    {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": {"name": "guest", "namespace": "default"},
        "rules": [{"apiGroups": ["acme.test"], "resources": ["shops"], "verbs": ["get", "list"]}],
    },
    {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "guest", "namespace": "default"},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "guest"},
        "subjects": [{"kind": "User", "name": "guest", "apiGroup": RBAC}],
    },
]


def test_a_resource_in_another_namespace_is_pointed_at_where_all_may_be_listed(trace, world) -> None:
    world.put(*GUEST)
    assert "try: it is in namespace town: use -n town\n" in trace("shop corner")[2]
    assert "try: it is in namespace town: use -n town\n" in trace("shop corner -n missing")[2]
    assert "try: crossply trace shops.acme.test -n default lists" in trace("shop corne")[2]
    assert "try: crossply trace shops.acme.test -n default lists" in trace("shop corner --as guest")[2]


def test_a_name_in_several_namespaces_is_pointed_at_in_all_of_them(trace, world) -> None:
    twins = [
        {"apiVersion": "other.test/v1", "kind": "Shop", "metadata": {"name": "twin", "namespace": namespace}}
        for namespace in ("town", "kube-system")
    ]
    world.put(*twins)
    err = trace("otherworldlyshop twin")[2]
    assert "try: it is in namespaces kube-system, town: use -n with one of them\n" in err


def test_a_misspelled_type_is_answered_with_the_nearest(trace) -> None:
    assert "did you mean shop?" in trace("shpo corner")[2]
    assert "did you mean" not in trace("shop.v9.acme.test x")[2]


@pytest.mark.parametrize("flags", ["--as eve", "--as eve --as-group guests --as-uid 7"])
def test_another_user_sees_the_objects_of_their_rights(trace, flags: str) -> None:
    code, _, err = trace(f"shop corner -n town {flags}")
    assert code == 1
    assert 'is forbidden: User "eve" cannot get resource "shops"' in err


def test_without_any_kubeconfig_the_message_is_that_of_kubectl(trace, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    _, _, err = trace("shop corner")
    assert err.splitlines()[-1] == (
        "crossply: error: failed to get kubeconfig: invalid configuration: "
        "no configuration has been provided, try setting KUBERNETES_MASTER environment variable"
    )


@pytest.mark.parametrize("named", [True, False], ids=["KUBECONFIG names none", "KUBECONFIG is not set"])
def test_without_a_kubeconfig_that_of_the_control_plane_in_this_directory_is_named(
    trace, monkeypatch, tmp_path, named: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG")
    if named:
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert "try: name a kubeconfig with KUBECONFIG" in trace("shop corner")[2]
    (tmp_path / ".crossply").mkdir()
    (tmp_path / ".crossply" / "kubeconfig").touch()
    assert "export KUBECONFIG=.crossply/kubeconfig\n" in trace("shop corner")[2]


def test_a_server_that_does_not_answer_is_named_with_its_address(trace, monkeypatch, tmp_path) -> None:
    cluster = '{name: a, cluster: {server: "http://127.0.0.1:1"}}'
    text = f"clusters: [{cluster}]\ncontexts: [{{name: c, context: {{cluster: a}}}}]\ncurrent-context: c\n"
    (tmp_path / "config").write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    code, _, err = trace("shop corner")
    assert code == 1
    assert err.splitlines()[-1] == (
        'crossply: error: cannot get mapping for resource: Get "http://127.0.0.1:1/api?timeout=32s": '
        "dial tcp 127.0.0.1:1: connect: connection refused"
    )


def test_on_a_terminal_there_are_ages_colours_and_reasons(world) -> None:
    command = [CROSSPLY, "trace", "shop/corner", "-n", "town"]
    with terminal(command, {"KUBECONFIG": world.kubeconfig}, columns=120) as shown:
        assert shown.finish() == 0
    out = shown.screen.text.rstrip("\n")
    assert "\x1b[31m✗ False\x1b[0m" in shown.written
    assert out.splitlines()[0].split() == ["NAME", "SYNCED", "READY", "AGE", "STATUS"]
    assert out.splitlines()[-3:] == [
        "Not ready because of:",
        "  Shelf/b (town): Creating: waiting for wood",
        "    next: crossply explain shelves.acme.test/b -n town",
    ]

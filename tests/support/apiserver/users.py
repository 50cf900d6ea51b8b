"""Users of a test server that are not administrators, and what they may do."""

from __future__ import annotations

import pathlib

from tests.support.apiserver.servers import Server

RBAC = "/apis/rbac.authorization.k8s.io/v1"
JANE = "janes-own-token"


def token_file(directory: pathlib.Path) -> str:
    """A file with the token of jane, who may do nothing yet."""
    path = directory / "tokens.csv"
    path.write_text(f'{JANE},jane,1,"team"\n')
    return str(path)


def allow(server: Server, name: str, verbs: list[str], resources: list[str]) -> None:
    """Let jane do something in the namespace default."""
    role = {
        "metadata": {"name": name},
        "rules": [{"apiGroups": [""], "verbs": verbs, "resources": resources}],
    }
    assert server.ask("POST", f"{RBAC}/namespaces/default/roles", role).status == 201
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
    }
    assert server.ask("POST", f"{RBAC}/namespaces/default/rolebindings", binding).status == 201


def revoke(server: Server, name: str) -> None:
    """Take it back."""
    assert server.ask("DELETE", f"{RBAC}/namespaces/default/rolebindings/{name}").status == 200

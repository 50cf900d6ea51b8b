"""kubectl auth whoami, auth can-i and create token."""

from __future__ import annotations


def test_kubectl_auth_can_i(kubectl):
    assert kubectl.run("auth", "can-i", "delete", "secrets") == "yes\n"
    assert kubectl.run("auth", "can-i", "delete", "secrets", "--as=jane", code=1) == "no\n"
    assert "selfsubjectreviews" in kubectl.run("auth", "can-i", "--list", "--as=jane")


def test_kubectl_auth_whoami(kubectl):
    assert "jane" in kubectl.run("auth", "whoami", "--as=jane")


def test_forbidden(kubectl):
    kubectl.run("get", "secrets", "--as=jane", code=1)
    assert (
        'Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets"'
        in kubectl.errors
    )


def test_create_a_token(kubectl):
    kubectl.run("create", "serviceaccount", "robot")
    token = kubectl.run("create", "token", "robot", "--duration=20m").strip()
    assert token.count(".") == 2

"""A webhook server of the test's own, and its registration."""

from __future__ import annotations

import base64
import datetime
import http.server
import ipaddress
import json
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.api.client import Object
from tests.support.api.collection import Collection
from tests.support.api.polling import eventually


def hook(webhooks: Webhooks, ns: str, **more: Any) -> Object:
    rules = [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["configmaps"],
            "operations": ["CREATE", "UPDATE", "DELETE"],
        }
    ]
    return {
        "name": "hook.example.org",
        "rules": rules,
        "clientConfig": webhooks.client_config,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns}},
        "timeoutSeconds": 5,
        **more,
    }


def in_force(configmaps: Collection, webhooks: Webhooks) -> None:
    """Wait until the webhook is called; a real server needs some time."""
    eventually(lambda: (configmaps.post(configmaps.object("probe"), dryRun="All"), webhooks.reviews)[1])
    webhooks.reviews.clear()


class Webhooks:
    """Answers reviews as the test says, and records them."""

    def __init__(self, directory: Path) -> None:
        self.reviews: list[Object] = []
        self.answer: Callable[[Object], Object] = lambda request: {"allowed": True}
        certificate, key = _certificate(directory)
        self.ca_bundle = base64.b64encode(certificate.read_bytes()).decode()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def client_config(self) -> Object:
        return {"url": f"https://127.0.0.1:{self.server.server_port}/", "caBundle": self.ca_bundle}

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def _handler(webhooks: Webhooks) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            webhooks.reviews.append(review["request"])
            response = {"uid": review["request"]["uid"], **webhooks.answer(review["request"])}
            body = json.dumps(
                {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *words: object) -> None:  # noqa: A002
            pass

    return Handler


def _certificate(directory: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "webhook")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = directory / "webhook.crt", directory / "webhook.key"
    certificate.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return certificate, secret

#!/bin/sh
# Pin every dependency by version and hash, without naming where it comes from. Extras stay: without them, pip 23
# refuses a file in which a package needs another one with an extra, once that has a newer version.
set -eu
cd "$(dirname "$0")/.."
.venv/bin/python -m pip install --quiet --disable-pip-version-check uv
compile() {
  .venv/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header \
    --universal --python-version 3.11 --no-strip-extras --upgrade --output-file "$@"
}
compile requirements/runtime.txt pyproject.toml
compile requirements/otel.txt pyproject.toml --extra otel
compile requirements/kcl.txt pyproject.toml --extra kcl
compile requirements/image.txt pyproject.toml --extra otel --extra kcl
compile requirements/dev.txt pyproject.toml requirements/dev.in --extra otel --extra postgresql --extra kcl
compile providers/postgresql/requirements.txt providers/postgresql/requirements.in
compile requirements/lint.txt requirements/lint.in
compile requirements/sdk-peer.txt requirements/sdk-peer.in
compile requirements/clients.txt requirements/clients.in

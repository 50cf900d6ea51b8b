#!/usr/bin/env bash
# Takes a cluster over from a real Crossplane: builds it and a real kube-apiserver if needed, and runs the tests.
# More arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${PYTHON:-.venv/bin/python}

if ! command -v go >/dev/null; then
    echo "test-takeover: SKIPPED - there is no Go to build Crossplane with, so NOTHING was taken over"
    exit 0
fi
tests/cluster/build.sh >/dev/null
tests/cluster/build.sh crossplane >/dev/null
tests/cluster/build.sh helm >/dev/null
CROSSPLY_TAKEOVER=1 CROSSPLY_PATIENCE=${CROSSPLY_PATIENCE:-180} exec "$python" -m pytest tests/takeover "$@"

#!/usr/bin/env bash
# Runs the suites on a real kube-apiserver: builds it if needed, starts it, runs pytest, stops it.
# More arguments go to pytest: tests/cluster/run.sh -k watch
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${PYTHON:-.venv/bin/python}

code=0
tests/cluster/build.sh >/dev/null || code=$?
if ((code == 3)); then
    echo "test-cluster: SKIPPED - there is no Go to build a real kube-apiserver with, so NOTHING was run on one"
    exit 0
fi
((code == 0)) || exit "$code"

suites=()
for suite in tests/api tests/deploy tests/e2e tests/upgrade; do
    [ ! -d "$suite" ] || suites+=("$suite")
done
if ((${#suites[@]})); then
    suites+=(--server=real)
else
    echo "test-cluster: there is NO tests/api and NO tests/e2e yet, so only the cluster itself is tried"
fi

# The store need not survive a power cut here, so it does not wait for the disk.
# The cluster lives as long as this command, however that ends.
exec "$python" -m tests.support.cluster run --etcd-flag=--unsafe-no-fsync -- \
    "$python" tools/run_tests.py tests/cluster "${suites[@]}" "$@"

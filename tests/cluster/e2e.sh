#!/usr/bin/env bash
# Runs the end-to-end tests of Kubernetes that e2e-tests.txt names, and writes docs/conformance.md.
#
#   tests/cluster/e2e.sh [embedded|real]           all of them
#   tests/cluster/e2e.sh embedded 'Watchers|Apply' only those whose names fit
#
# What the tests print is appended to .cache/cluster/e2e-SERVER.log. Exit codes: those of build.sh; 1 also if a
# test fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${PYTHON:-.venv/bin/python}
server=${1:-embedded}
pattern=${2:-}

case "$server" in
embedded | real) ;;
*) echo "usage: e2e.sh [embedded|real] [PATTERN]" >&2; exit 2 ;;
esac

programs=$(tests/cluster/build.sh e2e)
log=$PWD/.cache/cluster/e2e-$server.log
: >"$log"
run=("$python" -m tests.cluster.e2e --server "$server" --programs "$programs" --log "$log" "$pattern")

if [ "$server" = real ]; then
    exec "$python" -m tests.support.cluster run --etcd-flag=--unsafe-no-fsync -- "${run[@]}"
fi

data=$(mktemp -d)
"$(dirname "$python")/crossply" apiserver --data "$data" --listen 127.0.0.1:0 >"$data/out" 2>>"$log" &
apiserver=$!
# A server that is told to end finishes its requests; what it keeps is of no use after that.
trap 'kill "$apiserver" 2>/dev/null; wait "$apiserver" || true; rm -rf "$data"' EXIT
for _ in {1..100}; do
    grep -qs "^ready:" "$data/out" && break
    sleep 0.1
done
KUBECONFIG=$data/kubeconfig "${run[@]}"

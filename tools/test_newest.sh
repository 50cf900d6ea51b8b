#!/bin/sh
# Run the suite with the newest versions of all dependencies that pyproject.toml allows, in an environment of its own.
#
#   tools/test_newest.sh PYTHON [ARGUMENT OF PYTEST ...]
#
# Versions are bounded from above only where private parts are used; a bound that keeps a newer version out is printed.
# Properties are tried with other examples at each run.
set -eu
cd "$(dirname "$0")/.."
python=$1
shift
rm -rf .cache/newest
"$python" -m venv .cache/newest
pip() { .cache/newest/bin/python -m pip --quiet --disable-pip-version-check "$@"; }
pip install --upgrade pip
pip install --upgrade --upgrade-strategy eager -e '.[otel,kcl,postgresql]' -r requirements/dev.in
echo "Newer versions that a bound keeps out:"
.cache/newest/bin/python -m pip --disable-pip-version-check list --outdated
CROSSPLY_RANDOM_EXAMPLES=1 exec .cache/newest/bin/python -m pytest -n 4 --dist loadgroup "$@"

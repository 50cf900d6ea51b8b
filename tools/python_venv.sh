#!/bin/sh
# Debian has the part of Python that makes virtual environments in a package of its own: install it, or say so.
#
#   tools/python_venv.sh PYTHON
set -eu

version="$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
package="python$version-venv"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing $package ..."
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -qq -y --no-install-recommends "$package" >/dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -qq -y --no-install-recommends "$package" >/dev/null; } || true
fi
"$1" -c 'import ensurepip' 2>/dev/null && exit 0
echo "$1 cannot make virtual environments: it lacks ensurepip. On Debian: apt-get install $package" >&2
exit 1

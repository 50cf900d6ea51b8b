#!/bin/sh
# Programs that some tests use and Python cannot bring: container engines, a registry, tools that others make images with.
#
#   tools/system_packages.sh            say what is missing, and what that means
#   tools/system_packages.sh install    install it, where that can be done (Debian and its kin, as root)
set -eu

missing=""
for pair in crun:crun runc:runc skopeo:skopeo umoci:umoci docker-registry:docker-registry newuidmap:uidmap; do
    PATH="$PATH:/usr/sbin" command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0

if [ "${1:-}" = install ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing$missing ..."
    export DEBIAN_FRONTEND=noninteractive
    if apt-get install -qq -y --no-install-recommends $missing >/dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -qq -y --no-install-recommends $missing >/dev/null; }; then
        exit 0
    fi
fi
echo "NOT INSTALLED:$missing. Tests that need them are skipped, each with its reason." >&2
echo "               On Debian: apt-get install$missing" >&2

#!/bin/sh
# Programs that some tests use and Python cannot bring: container engines, a registry, a shell to put into images,
# tools that others make images with. `make test` runs this first. tests/support/programs.py has the same list.
#
#   tools/system_packages.sh            install what is missing, where that can be done: on Debian, as root
#   tools/system_packages.sh --check    only print what is missing
set -eu

programs="busybox:busybox-static chromium:chromium crun:crun docker-registry:docker-registry fish:fish git:git newuidmap:uidmap
    openssl:openssl pasta:passt postgres:postgresql promtool:prometheus runc:runc skopeo:skopeo strace:strace umoci:umoci
    zsh:zsh"

for bin in /usr/lib/postgresql/*/bin; do PATH="$PATH:$bin"; done
missing=""
for pair in $programs; do
    PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0

install() {
    apt-get install -qq -y --no-install-recommends $missing >/dev/null
}

if [ "${1:-}" != --check ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing$missing ..."
    export DEBIAN_FRONTEND=noninteractive
    # The lists of packages may be old or absent.
    install 2>/dev/null || { apt-get update -qq && install; } && exit 0
fi
echo "NOT INSTALLED:$missing. Tests that need them are skipped, each with its reason." >&2
echo "               On Debian: apt-get install$missing" >&2

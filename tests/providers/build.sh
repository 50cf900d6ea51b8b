#!/usr/bin/env bash
# Builds providers in Go and prints the directory they are in.
#
#   tests/providers/build.sh             small, the one in tests/providers/go
#   tests/providers/build.sh published   the same, and a published one from the Go module proxy, with its package
#
# The directory is kept under .cache/providers (or CROSSPLY_PROVIDERS_CACHE), one for each state of the sources, so a second
# call finds everything there and needs no Go. Progress goes to standard error.
# Exit codes: 0 all there, 1 a build failed, 2 wrong use, 3 something must be built and there is no Go.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${CROSSPLY_PROVIDERS_CACHE:-$here/../../.cache/providers}
published=github.com/crossplane-contrib/provider-kubernetes
version=v0.17.1

say() { printf '%s\n' "$*" >&2; }

case "$*" in
"") programs=(small) ;;
published) programs=(small provider-kubernetes) ;;
*) say "usage: build.sh [published]"; exit 2 ;;
esac

key=$(cat "$here"/go/*.go "$here"/go/go.mod <(echo "$published@$version") | sha256sum | cut -c1-16)
mkdir -p "$cache/$key"
out=$(cd "$cache/$key" && pwd)

# A program appears under its own name only when it is whole, so being there is being built.
list_missing() {
    missing=()
    for program in "${programs[@]}"; do
        [ -x "$out/$program" ] || missing+=("$program")
    done
}

compile() {
    export CGO_ENABLED=0
    nice -n 19 go build -trimpath -ldflags "-s -w" -o "$1" "$2"
}

build_small() { (cd "$here/go" && compile "$out/.small.part" .); }

# A module in the cache of Go cannot be written to, so it is built from a copy, with the checksums that it brings.
build_published() {
    local module
    module=$(go mod download -json "$published@$version" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
    rm -rf "$out/source" && cp -r "$module" "$out/source" && chmod -R u+w "$out/source"
    (cd "$out/source" && compile "$out/.provider-kubernetes.part" ./cmd/provider)
    rm -rf "$out/package" && cp -r "$out/source/package" "$out/package"
    rm -rf "$out/source"
}

list_missing
if ((${#missing[@]})); then
    if ! command -v go >/dev/null; then
        say "There is no Go here, and ${missing[*]} must be built. Install Go 1.26 or newer (https://go.dev/dl/)."
        exit 3
    fi
    exec 9>"$out/lock"
    flock --nonblock 9 || { say "waiting for another build in $out ..."; flock 9; }
    list_missing # another build may have made them while we waited
    for program in "${missing[@]}"; do
        say "building $program ..."
        began=$SECONDS
        if [ "$program" = small ]; then build_small; else build_published; fi
        mv "$out/.$program.part" "$out/$program"
        say "built $program in $((SECONDS - began)) s"
    done
fi
echo "$out"

#!/usr/bin/env bash
# Builds the programs of a real Kubernetes from the Go module proxy and prints the directory they are in.
#
#   tests/cluster/build.sh        etcd, kube-apiserver, kube-controller-manager, kubectl
#   tests/cluster/build.sh e2e    the same and e2e.test, the end-to-end tests of Kubernetes
#   tests/cluster/build.sh helm   Helm alone
#   tests/cluster/build.sh lint   actionlint and kubeconform alone, for `make lint-release`
#   tests/cluster/build.sh node   kubelet and kube-scheduler alone, for a node that runs Pods
#   tests/cluster/build.sh crossplane  Crossplane alone, to take a cluster over from
#
# The directory is kept under .cache/cluster (or CROSSPLY_CLUSTER_CACHE), one for each go.mod, so a second call
# finds everything there and needs no Go. Progress goes to standard error.
# Exit codes: 0 all there, 1 a build failed, 2 wrong use, 3 something must be built and there is no Go.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${CROSSPLY_CLUSTER_CACHE:-$here/../../.cache/cluster}

say() { printf '%s\n' "$*" >&2; }

programs=(etcd kube-apiserver kube-controller-manager kubectl)
module=$here
case "$*" in
"") ;;
e2e) programs+=(e2e.test) ;;
helm) programs=(helm) module=$here/helm ;;
lint) programs=(actionlint kubeconform) module=$here/lint ;;
node) programs=(kubelet kube-scheduler) module=$here/node ;;
crossplane) programs=(crossplane) module=$here/crossplane ;;
*) say "usage: build.sh [e2e|helm|lint|node|crossplane]"; exit 2 ;;
esac

key=$(sha256sum "$module/go.mod" | cut -c1-16)
mkdir -p "$cache/$key/bin"
bin=$(cd "$cache/$key/bin" && pwd)

# A program appears under its own name only when it is whole, so being there is being built.
list_missing() {
    missing=()
    for program in "${programs[@]}"; do
        [ -x "$bin/$program" ] || missing+=("$program")
    done
}

version_of() { awk -v module="$1" '$1 == module && $2 ~ /^v/ { print $2; exit }' "$module/go.mod"; }

# Clients refuse a server of version "v0.0.0-master", which is what an unset variable says.
linker_flags() {
    local version minor package helm crossplane
    crossplane=$(version_of github.com/crossplane/crossplane/v2)
    package=github.com/crossplane/crossplane-runtime/v2/pkg/version
    [ -z "$crossplane" ] || { printf '%s' "-s -w -X $package.version=$crossplane"; return; }
    helm=$(version_of helm.sh/helm/v3)
    [ -z "$helm" ] || { printf '%s' "-s -w -X helm.sh/helm/v3/internal/version.version=$helm"; return; }
    [ -z "$(version_of github.com/rhysd/actionlint)" ] || { printf '%s' "-s -w"; return; }
    version=$(version_of k8s.io/kubernetes)
    minor=${version#v1.}
    printf '%s' "-s -w"
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        printf ' -X %s' "$package.gitVersion=$version" "$package.gitMajor=1" "$package.gitMinor=${minor%%.*}" \
            "$package.gitTreeState=clean" "$package.gitCommit=$version"
    done
}

compile() {
    local program=$1 output=$2 go=(nice -n 19 go)
    local flags=(-trimpath -ldflags "$(linker_flags)" -o "$output")
    cd "$module"
    export CGO_ENABLED=0
    case "$program" in
    etcd) exec "${go[@]}" build "${flags[@]}" go.etcd.io/etcd/server/v3 ;;
    helm) exec "${go[@]}" build "${flags[@]}" helm.sh/helm/v3/cmd/helm ;;
    actionlint) exec "${go[@]}" build "${flags[@]}" github.com/rhysd/actionlint/cmd/actionlint ;;
    kubeconform) exec "${go[@]}" build "${flags[@]}" github.com/yannh/kubeconform/cmd/kubeconform ;;
    crossplane) exec "${go[@]}" build "${flags[@]}" github.com/crossplane/crossplane/v2/cmd/crossplane ;;
    e2e.test) exec "${go[@]}" test -c "${flags[@]}" k8s.io/kubernetes/test/e2e ;;
    *) exec "${go[@]}" build "${flags[@]}" "k8s.io/kubernetes/cmd/$program" ;;
    esac
}

# One line at the start, one every half minute, one at the end: a log shows that it lives, and nothing scrolls away.
build() {
    local program=$1 step=$2 output=$bin/.$1.part log=${bin%/bin}/$1.log began=$SECONDS next=30
    say "building $program ($step) ..."
    compile "$program" "$output" >"$log" 2>&1 &
    compiler=$!
    while kill -0 "$compiler" 2>/dev/null; do
        sleep 0.2
        if ((SECONDS - began >= next)); then
            say "building $program ($step) ... $((SECONDS - began)) s"
            next=$((next + 30))
        fi
    done
    if ! wait "$compiler"; then
        say "building $program failed after $((SECONDS - began)) s; the end of $log:"
        tail -n 20 "$log" >&2
        exit 1
    fi
    compiler=
    mv "$output" "$bin/$program"
    say "built $program ($step) in $((SECONDS - began)) s, $(($(stat -c %s "$bin/$program") / 1048576)) MiB"
}

stop_compiler() { [ -z "${compiler:-}" ] || kill "$compiler" 2>/dev/null || true; }

list_missing
if ((${#missing[@]})); then
    if ! command -v go >/dev/null; then
        say "There is no Go here, and ${missing[*]} must be built. Install Go 1.26 or newer (https://go.dev/dl/)."
        exit 3
    fi
    exec 9>"$cache/$key/lock"
    flock --nonblock 9 || { say "waiting for another build in $cache/$key ..."; flock 9; }
    list_missing # another build may have made them while we waited
    trap stop_compiler EXIT
    count=0
    for program in "${missing[@]}"; do
        count=$((count + 1))
        build "$program" "$count of ${#missing[@]}"
    done
fi
echo "$bin"

#!/usr/bin/env bash
# One node that runs Pods, for the real cluster of tests/support/cluster: containerd and kubelet, and a scheduler beside it.
#
#   tests/cluster/node.sh start DIR PROGRAMS KUBECONFIG PAUSE   run it with DIR for everything that is kept
#   tests/cluster/node.sh stop DIR                              end it, with every Pod
#
# PROGRAMS is the directory with kubelet and kube-scheduler (build.sh node), KUBECONFIG one of the group
# system:masters, PAUSE the image that holds a Pod's namespaces. containerd, runc and the CNI plugins are Debian's
# (apt-get install containerd runc containernetworking-plugins). It takes root, on a machine without systemd, with control
# groups of version 1.
#
# The node lives in mount, process and control group namespaces of its own, so that the end of their first process is the
# end of everything in them. The bridge has the address of the first Service, too: that is where Pods expect the API.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
action=${1:?start or stop}
dir=${2:?a directory}
export NODE_DIR=$dir NODE_BRIDGE=crossply0 NODE_IP=10.245.0.1 API_IP=10.96.0.1

make_bridge() {
    # An address of its own: otherwise it takes that of a Pod, and Pods lose it whenever one comes or goes.
    ip link show "$NODE_BRIDGE" >/dev/null 2>&1 || ip link add "$NODE_BRIDGE" address 02:00:0a:f5:00:01 type bridge
    ip addr replace "$NODE_IP/24" dev "$NODE_BRIDGE"
    ip addr replace "$API_IP/32" dev "$NODE_BRIDGE"
    ip link set "$NODE_BRIDGE" up
}

# A group "crossply-node" in each hierarchy, below the one that we are in. Whoever enters it and then a namespace of its
# own sees it as the root.
make_groups() {
    : >"$dir/run/groups"
    local kind path group
    while IFS=: read -r _ kind path; do
        [ -n "$kind" ] || continue
        group=/sys/fs/cgroup/${kind#name=}${path%/}/crossply-node
        mkdir -p "$group"
        if [ "$kind" = cpuset ]; then
            cat "$(dirname "$group")/cpuset.cpus" >"$group/cpuset.cpus"
            cat "$(dirname "$group")/cpuset.mems" >"$group/cpuset.mems"
        fi
        echo "$group" >>"$dir/run/groups"
    done </proc/self/cgroup
}

start() {
    local programs=$1 kubeconfig=$2
    export NODE_PROGRAMS=$programs NODE_KUBECONFIG=$kubeconfig NODE_PAUSE=$3
    mkdir -p "$dir"/{run,logs,cni,containerd,kubelet,varlog,varlibcni,sysctl} /var/lib/cni
    make_bridge
    make_groups
    # shellcheck disable=SC2016 # it is the inner shell that is to know its own number
    nohup setsid bash -c 'while read -r group; do echo $$ >"$group/cgroup.procs"; done <"$NODE_DIR/run/groups"
        exec unshare --mount --pid --cgroup --fork --kill-child --mount-proc --propagation private "$0"' \
        "$here/node-inner.sh" >"$dir/logs/node.log" 2>&1 </dev/null &
    echo $! >"$dir/run/node.pid"
    nohup setsid "$programs/kube-scheduler" --kubeconfig="$kubeconfig" --authentication-kubeconfig="$kubeconfig" \
        --authorization-kubeconfig="$kubeconfig" --bind-address=127.0.0.1 --secure-port=0 --leader-elect=false \
        >"$dir/logs/scheduler.log" 2>&1 </dev/null &
    echo $! >"$dir/run/scheduler.pid"
}

end_process() {
    local pid
    pid=$(cat "$dir/run/$1.pid" 2>/dev/null) || return 0
    kill -9 "$pid" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    rm -f "$dir/run/$1.pid"
}

stop() {
    end_process node
    end_process scheduler
    sleep 1
    local group
    while read -r group; do
        [ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done <"$dir/run/groups" 2>/dev/null || true
    ip link del "$NODE_BRIDGE" 2>/dev/null || true
    rmdir /var/lib/cni 2>/dev/null || true
}

case "$action" in
start) start "${3:?the programs}" "${4:?a kubeconfig}" "${5:?the pause image}" ;;
stop) stop ;;
*) echo "usage: node.sh start DIR PROGRAMS KUBECONFIG PAUSE | stop DIR" >&2; exit 2 ;;
esac

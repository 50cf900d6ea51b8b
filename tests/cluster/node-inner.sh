#!/usr/bin/env bash
# The inside of the node that node.sh starts: file systems of its own, then containerd and kubelet.
set -euo pipefail

mount --make-rshared / # the propagation that volumes of Pods need; it ends at this namespace
mount -t tmpfs tmpfs /run
mount --bind "$NODE_DIR/varlog" /var/log
mount --bind "$NODE_DIR/varlibcni" /var/lib/cni

mount -t tmpfs cgroup /sys/fs/cgroup
for kind in cpu cpuacct cpuset memory devices freezer blkio pids; do
    mkdir "/sys/fs/cgroup/$kind"
    mount -t cgroup -o "$kind" cgroup "/sys/fs/cgroup/$kind" || echo "there is no group $kind"
done
mkdir /sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd

# kubelet insists on settings of the kernel: it gets files to write them to, which are not the machine's.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1; do
    file=$NODE_DIR/sysctl/$(tr / . <<<"${setting%%=*}")
    echo "${setting#*=}" >"$file"
    mount --bind "$file" "/proc/sys/${setting%%=*}"
done

socket=$NODE_DIR/run/containerd.sock
cat >"$NODE_DIR/containerd.toml" <<CONFIG
version = 2
root = "$NODE_DIR/containerd"
state = "/run/containerd"
[grpc]
  address = "$socket"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$NODE_PAUSE"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "$NODE_DIR/cni"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  BinaryName = "/usr/sbin/runc"
  SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".registry.mirrors."${NODE_PAUSE%%/*}"]
  endpoint = ["http://${NODE_PAUSE%%/*}"]
CONFIG
cat >"$NODE_DIR/cni/10-bridge.conflist" <<CONFIG
{"cniVersion": "0.4.0", "name": "node", "plugins": [
  {"type": "bridge", "bridge": "$NODE_BRIDGE", "isGateway": false, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam", "routes": [{"dst": "0.0.0.0/0"}],
            "ranges": [[{"subnet": "10.245.0.0/24", "rangeStart": "10.245.0.10", "gateway": "$NODE_IP"}]]}}]}
CONFIG
cat >"$NODE_DIR/kubelet.yaml" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NODE_IP
port: 10250
healthzPort: 0
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /
containerRuntimeEndpoint: unix://$socket
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
oomScoreAdj: 0
makeIPTablesUtilChains: false
resolvConf: ""
failSwapOn: false
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
CONFIG

containerd --config "$NODE_DIR/containerd.toml" >"$NODE_DIR/logs/containerd.log" 2>&1 &
for _ in $(seq 300); do
    ctr --address "$socket" version >/dev/null 2>&1 && break
    sleep 0.1
done
exec "$NODE_PROGRAMS/kubelet" --config="$NODE_DIR/kubelet.yaml" --kubeconfig="$NODE_KUBECONFIG" --hostname-override=n1 \
    --node-ip="$NODE_IP" --root-dir="$NODE_DIR/kubelet" --cert-dir="$NODE_DIR/kubelet/pki" -v=2 >"$NODE_DIR/logs/kubelet.log" 2>&1

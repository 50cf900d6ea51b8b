#!/bin/sh
# Generate the protobuf classes in src/crossply/functions/proto from the .proto files beside them.
#
# usage: tools/generate_protos.sh [PYTHON]     PYTHON needs grpcio-tools
#
# v1beta1 has the messages of v1 under another package name, so its .proto file is made here too. The files are
# committed; a test runs this into another directory (OUTPUT) and compares.
set -eu
python=${1:-python3}
root=$(cd "$(dirname "$0")/.." && pwd)
output=${OUTPUT:-$root/src}
here=crossply/functions/proto

mkdir -p "$output/$here/v1beta1"
sed -e 's/^package .*;/package apiextensions.fn.proto.v1beta1;/' \
    -e '/^\/\/ for it can be called/s/ v1beta1 holds.*//' \
    -e '/^\/\/ made from this one/s/.*/\/\/ Made from the file of v1 by tools\/generate_protos.sh: do not edit./' \
    "$root/src/$here/v1/run_function.proto" > "$output/$here/v1beta1/run_function.proto.new"
mv "$output/$here/v1beta1/run_function.proto.new" "$output/$here/v1beta1/run_function.proto"

compile() {
    "$python" -m grpc_tools.protoc --proto_path="$1" --python_out="$output" --pyi_out="$output" "$here/$2"
}
compile "$root/src" v1/run_function.proto
compile "$output" v1beta1/run_function.proto
compile "$root/src" render/v1alpha1/render.proto
compile "$root/src" v1alpha1/run_function.proto
compile "$root/src" pipeline/v1alpha1/pipeline_inspector.proto
"$python" "$root/tools/generate_descriptors.py" "$output" "$root/src"

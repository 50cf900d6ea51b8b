#!/bin/sh
# A PostgreSQL server of one's own, from Debian's package `postgresql` or any other in PATH.
#
#   server.sh start DIR [PORT]   start it with its data in DIR, and write DIR/secret.yaml for a ProviderConfig
#   server.sh stop DIR           stop it; its data stays
#
# POSTGRES_OPTIONS has more options of `postgres`, such as "-c fsync=off".
set -eu
umask 077

usage="usage: server.sh start DIR [PORT] | stop DIR"
command=${1:?$usage}
mkdir -p "${2:?$usage}"
dir=$(cd "$2" && pwd)
port=${3:-54320}

# Debian has the programs of each version in a directory of its own: the newest one is taken.
for bin in /usr/lib/postgresql/*/bin; do PATH="$bin:$PATH"; done
command -v initdb >/dev/null || { echo "PostgreSQL is not installed: apt-get install postgresql" >&2; exit 1; }

as_server() { # PostgreSQL refuses to run as root
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
    else
        "$@"
    fi
}

case $command in
start)
    if [ ! -d "$dir/data" ]; then
        [ -f "$dir/password" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$dir/password"
        [ "$(id -u)" != 0 ] || chown -R postgres "$dir"
        as_server initdb --pgdata="$dir/data" --username=admin --pwfile="$dir/password" --auth=scram-sha-256 \
            --encoding=UTF8 --locale=C.UTF-8 --no-sync >/dev/null
    fi
    as_server pg_ctl start --wait --silent --pgdata="$dir/data" --log="$dir/log" --options="-p $port \
        -c listen_addresses=127.0.0.1 -c unix_socket_directories= ${POSTGRES_OPTIONS:-}"
    cat >"$dir/secret.yaml" <<EOF
apiVersion: v1
kind: Secret
metadata:
  namespace: default
  name: postgresql-server
stringData:
  endpoint: 127.0.0.1
  port: "$port"
  username: admin
  password: $(cat "$dir/password")
EOF
    ;;
stop) as_server pg_ctl stop --wait --silent --mode=fast --pgdata="$dir/data" ;;
*) echo "$usage" >&2; exit 2 ;;
esac

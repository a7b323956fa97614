#!/usr/bin/env bash
# Packs the package, installs the tarball into an empty directory and runs it there. The published package has no
# sources and lies below node_modules, so it starts in another way than a checkout does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

directory=$(mktemp -d)
server=
clean_up() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
  rm -rf "$directory"
}
trap clean_up EXIT

npm pack --silent --pack-destination "$directory"
cp -r examples/zones "$directory/zones"
cp -r examples/lab "$directory/lab"
cd "$directory"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund ./holdfast-*.tgz
holdfast=node_modules/.bin/holdfast
"$holdfast" --version
"$holdfast" zone check zones/db.*
"$holdfast" render rendered lab/stack.yaml --state "$directory/state"

port=$((20000 + RANDOM % 10000))
"$holdfast" dns --zones zones --listen "127.0.0.1:$port" &
server=$!
answer=
for _ in {1..100}; do
  answer=$(dig @127.0.0.1 -p "$port" +short +tries=1 +time=1 ns1.example.test || true)
  if [ "$answer" = 192.0.2.1 ]; then break; fi
  sleep 0.1
done
if [ "$answer" != 192.0.2.1 ]; then
  echo "Cannot use the packed name server: it answered \"$answer\" for ns1.example.test; expected 192.0.2.1" >&2
  exit 1
fi
kill -TERM "$server"
wait "$server"
server=

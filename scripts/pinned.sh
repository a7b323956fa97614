#!/bin/sh
# Runs a command of node_modules/.bin on the Node that is pinned in package.json, whatever Node the host has.
# Not every npm links that Node into node_modules/.bin, so it is looked up where its package lies.
set -eu
modules=$(cd "$(dirname "$0")/.." && pwd)/node_modules
for node in "$modules"/node-linux-*/bin/node; do
  if [ -x "$node" ] && "$node" --version >/dev/null 2>&1; then
    PATH="$(dirname "$node"):$modules/.bin:$PATH"
    export PATH
    exec "$@"
  fi
done
echo "Cannot run \"$*\": the pinned Node is not installed; run npm ci on Linux (x64 or arm64) first" >&2
exit 1

#!/usr/bin/env bash
# What the README says about the lab, run as it stands there: every block marked `sh lab`, in order, from the root of the
# checkout. It uses the default state directory, so nobody may have a stack named lab there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

clean_up() {
  bin/holdfast down lab --purge --yes >/dev/null 2>&1 || true
}
trap clean_up EXIT

blocks=$(awk '/^```sh lab$/ { on = 1; next } /^```$/ { on = 0 } on' README.md)
[ -n "$blocks" ] || { echo 'Cannot try the lab: README.md has no block "sh lab"; at least one is wanted' >&2; exit 1; }
bash -euxo pipefail -c "$blocks"

left=$(pgrep --full /var/lib/holdfast/stacks/lab || true)
if [ -n "$left" ] || [ -e /var/lib/holdfast/stacks/lab ]; then
  echo "Cannot be content with down --purge: something is left (processes: ${left:-none}); nothing is wanted" >&2
  exit 1
fi

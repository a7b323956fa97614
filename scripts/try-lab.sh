#!/usr/bin/env bash
# Runs what the README says about the lab, as it is written there: every block marked `sh lab`, in order, from the root of
# the checkout. Those of the stack guide come before the last one, which removes the lab. The state directory is the
# default one, so there must be no stack named lab.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

clean_up() {
  bin/holdfast down lab --purge --yes >/dev/null 2>&1 || true
}
trap clean_up EXIT

# The blocks of a page: all (0) or those before (-1) or from (1) the last one.
blocks() {
  awk -v part="$2" '/^```sh lab$/ { n++; on = 1; next } /^```$/ { on = 0 } on { text[n] = text[n] $0 "\n" }
    END { for (i = 1; i <= n; i++) if (part == 0 || (part < 0 && i < n) || (part > 0 && i == n)) printf "%s", text[i] }' "$1"
}
for page in README.md docs/guide/stack.md; do
  [ -n "$(blocks "$page" 0)" ] || { echo "Cannot try the lab: $page has no block \"sh lab\"; expected at least one" >&2; exit 1; }
done
bash -euxo pipefail -c "$(blocks README.md -1)"
bash -euo pipefail -c "$(blocks docs/guide/stack.md 0)"
bash -euxo pipefail -c "$(blocks README.md 1)"

left=$(pgrep --full /var/lib/holdfast/stacks/lab || true)
if [ -n "$left" ] || [ -e /var/lib/holdfast/stacks/lab ]; then
  echo "down --purge left files or processes behind (processes: ${left:-none})" >&2
  exit 1
fi

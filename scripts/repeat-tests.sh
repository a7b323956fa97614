#!/usr/bin/env bash
# Runs `npm test` several times, to show that it passes every time: a line per run with its time and the tests that failed.
# Usage: scripts/repeat-tests.sh RUNS [--busy] [-- ARGUMENTS OF npm test]
# --busy keeps every core busy meanwhile, as a shared machine does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

[[ ${1:-} =~ ^[1-9][0-9]*$ ]] || usage
runs=$1
shift
busy=false
if [[ ${1:-} == --busy ]]; then
  busy=true
  shift
fi
if [[ ${1:-} == -- ]]; then shift; elif (($# > 0)); then usage; fi

logs=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-runs.XXXXXX")
loops=()
cleanup() {
  for pid in "${loops[@]}"; do kill "$pid" 2>/dev/null || true; done
}
trap cleanup EXIT
if $busy; then
  for _ in $(seq "$(nproc)"); do
    # A day at most, whatever happens to this script.
    timeout 86400 sh -c 'while :; do :; done' &
    loops+=("$!")
  done
fi

printf 'logs: %s\n' "$logs"
printf '%4s  %7s  %-8s  %6s  %6s  %7s  %s\n' run seconds result passed failed skipped 'failed tests'
failures=0
for run in $(seq "$runs"); do
  begin=$SECONDS
  result=passed
  npm test -- --reporter=default --reporter=json --outputFile.json="$logs/$run.json" "$@" >"$logs/$run.log" 2>&1 || result=FAILED
  [[ $result == passed ]] || failures=$((failures + 1))
  summary=$(sh scripts/pinned.sh node scripts/summarize-tests.ts "$logs/$run.json" || echo '? ? ? no report, see the log')
  read -r passed failed skipped names <<<"$summary"
  printf '%4d  %7d  %-8s  %6s  %6s  %7s  %s\n' "$run" $((SECONDS - begin)) "$result" "$passed" "$failed" "$skipped" "$names"
done
printf '%d of %d runs passed\n' $((runs - failures)) "$runs"
((failures == 0))

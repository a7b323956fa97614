#!/usr/bin/env bash
# Builds the pinned CoreDNS release with Go, once, into a cache outside the repository, and prints the path of the binary.
# The release's own go.mod decides every dependency; Go checks them against its checksum database.
# Exit 0 with nothing on standard output when Go is absent: whoever asks then goes without CoreDNS.
# With --if-built nothing is built: the path is printed if the binary is there.
set -euo pipefail

version=v1.15.0
directory="${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/coredns/$version"
binary="$directory/coredns"

if [[ ! -x "$binary" ]]; then
  [[ "${1:-}" == --if-built ]] && exit 0
  # Where Go's own archive is unpacked, which is not on every user's PATH.
  PATH="$PATH:/usr/local/go/bin"
  if ! command -v go >/dev/null; then
    echo "CoreDNS $version is not built: Go is absent; install Go to include CoreDNS" >&2
    exit 0
  fi
  echo "Building CoreDNS $version (several minutes, once)" >&2
  mkdir -p "$directory"
  staging="$(mktemp -d "$directory/build.XXXXXX")"
  trap 'rm -rf "$staging"' EXIT
  # Niced: a build in the background should not disturb whatever else the machine does.
  (cd "$staging" && GOBIN="$staging" nice -n 19 go install -trimpath -ldflags '-s -w' "github.com/coredns/coredns@$version") >&2
  mv "$staging/coredns" "$binary"
fi
echo "$binary"

#!/usr/bin/env bash
# Builds the pinned ExternalDNS release with Go, once, into a cache outside the repository, and prints the path of the
# binary. The release's own go.mod decides the dependencies, but for those below; Go checks them against its checksum database.
# Exit 0 with nothing on standard output when Go is absent: whoever asks then goes without ExternalDNS.
# With --if-built nothing is built: the path is printed if the binary is there.
set -euo pipefail

version=v0.23.0
directory="${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/external-dns/$version"
binary="$directory/external-dns"

if [[ ! -x "$binary" ]]; then
  [[ "${1:-}" == --if-built ]] && exit 0
  # Where Go's own archive is unpacked, which is not on every user's PATH.
  PATH="$PATH:/usr/local/go/bin"
  if ! command -v go >/dev/null; then
    echo "ExternalDNS $version is not built: Go is absent; install Go to include ExternalDNS" >&2
    exit 0
  fi
  echo "Building ExternalDNS $version (several minutes, once)" >&2
  mkdir -p "$directory"
  staging="$(mktemp -d "$directory/build.XXXXXX")"
  trap 'rm -rf "$staging"' EXIT
  cd "$staging"
  # Not every module proxy has the versions that these are pinned to. All of them belong to providers and sources that
  # have no counterpart here, so that versions next to them serve as well.
  cat >go.mod <<END
module holdfast.invalid/external-dns
go 1.27.0
require sigs.k8s.io/external-dns $version
replace (
	github.com/civo/civogo => github.com/civo/civogo v0.7.2
	github.com/exoscale/egoscale/v3 => github.com/exoscale/egoscale/v3 v3.1.40
	github.com/openshift/api => github.com/openshift/api v0.0.0-20251015095338-264e80a2b6e7
	github.com/projectcontour/contour => github.com/projectcontour/contour v1.33.6
	istio.io/api => istio.io/api v1.31.1
)
END
  # The release asks for a Go that may be newer than the one installed; it then comes from the module proxy.
  GOTOOLCHAIN=auto nice -n 19 go build -mod=mod -trimpath \
    -ldflags "-s -w -X sigs.k8s.io/external-dns/pkg/apis/externaldns.Version=$version" \
    -o "$staging/" sigs.k8s.io/external-dns >&2
  mv "$staging/external-dns" "$binary"
fi
echo "$binary"

#!/usr/bin/env bash
# Builds the pinned kube-apiserver and kubectl with Go, once, into a cache outside the repository, puts the custom
# resource definitions that tests apply beside them (Gateway API, DNSEndpoint), and prints the path of the directory.
# The release's own go.mod decides every dependency; Go checks them against its checksum database.
# Exit 0 with nothing on standard output when Go is absent: whoever asks then goes without Kubernetes.
# With --if-built nothing is built: the path is printed if everything is there.
set -euo pipefail

version=v1.36.3
gateway_api=v1.6.2
external_dns=v0.23.0
# All versions are in the path, so that another version of any part is another directory.
directory="${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/kubernetes/$version-gateway-api-$gateway_api-external-dns-$external_dns"

if [[ ! -d "$directory" ]]; then
  [[ "${1:-}" == --if-built ]] && exit 0
  # Where Go's own archive is unpacked, which is not on every user's PATH.
  PATH="$PATH:/usr/local/go/bin"
  if ! command -v go >/dev/null; then
    echo "Kubernetes $version is not built: Go is absent; install Go to include Kubernetes" >&2
    exit 0
  fi
  echo "Building kube-apiserver and kubectl $version (several minutes, once)" >&2
  mkdir -p "$(dirname "$directory")"
  staging="$(mktemp -d "$directory.XXXXXX")"
  trap 'rm -rf "$staging"' EXIT
  mkdir "$staging/module" "$staging/ready"
  cd "$staging/module"
  # A module may ask for a newer Go than the one installed, which Go then takes from its module proxy.
  export GOTOOLCHAIN=auto

  # Downloads a module and prints where its sources are.
  sources() {
    go mod download -json "$1" | sed -n 's/^\s*"Dir": "\(.*\)",$/\1/p'
  }

  # Kubernetes replaces its own libraries by directories that are not part of its module; they are published as modules
  # of the same minor version and patch.
  kubernetes="$(sources "k8s.io/kubernetes@$version")"
  {
    echo 'module holdfast.invalid/kubernetes'
    grep '^go ' "$kubernetes/go.mod"
    echo "require k8s.io/kubernetes $version"
    sed -n "s|^\s*\(k8s.io/[a-z-]*\) => ./staging/.*|replace \1 => \1 v0.${version#v1.}|p" "$kubernetes/go.mod"
  } >go.mod
  nice -n 19 go build -mod=mod -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" \
    -o ../ready/ k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl >&2

  cd ../ready
  definitions="$(sources "sigs.k8s.io/gateway-api@$gateway_api")/config/crd"
  install -D -m 644 -t crds/gateway-standard "$definitions/standard/"*_{gateways,listenersets,*routes}.yaml
  install -D -m 644 -t crds/gateway-experimental "$definitions/experimental/"*_{gateways,listenersets,*routes}.yaml
  definitions="$(sources "sigs.k8s.io/external-dns@$external_dns")/config/crd"
  install -D -m 644 -t crds/dnsendpoint "$definitions/standard/"dnsendpoints.*.yaml
  # Another run may have been faster.
  mv -T "$staging/ready" "$directory" 2>/dev/null || [[ -d "$directory" ]]
fi
echo "$directory"

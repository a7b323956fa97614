#!/usr/bin/env bash
# Installs the Debian packages that tests or benchmarks compare with: only what is missing, nothing that is
# there is touched, and no daemon is started. Usage: scripts/install-packages.sh test|bench|patroni
set -euo pipefail

test_packages=(bind9 bind9-dnsutils bind9-utils curl dnsperf etcd-client etcd-server iproute2 knot knot-dnsutils ldnsutils nsd procps)
bench_packages=("${test_packages[@]}")
patroni_packages=(etcd-client etcd-server patroni postgresql-15 python3-etcd)

case ${1-} in
  test) packages=("${test_packages[@]}") ;;
  bench) packages=("${bench_packages[@]}") ;;
  patroni) packages=("${patroni_packages[@]}") ;;
  *)
    echo "Usage: scripts/install-packages.sh test|bench|patroni" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "Cannot install ${packages[*]}: this is not a Debian system; install what your system calls these" >&2
  exit 1
fi

# Absent packages make dpkg-query fail and are not listed; that is the answer, not an error.
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep --quiet --line-regexp "installed $package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

command="apt-get install --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -ne 0 ]; then
  echo "Cannot install ${missing[*]}: not running as root; run this first:" >&2
  echo "  sudo $command" >&2
  exit 1
fi

# invoke-rc.d asks this script before it starts a daemon; 101 means no. Whatever policy was there comes back.
policy=/usr/sbin/policy-rc.d
saved=
restore_policy() {
  rm -f "$policy"
  if [ -n "$saved" ]; then mv "$saved" "$policy"; fi
}
if [ -e "$policy" ]; then
  saved=$(mktemp "$policy.XXXXXX")
  cp --preserve=all "$policy" "$saved"
fi
trap restore_policy EXIT
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"

# The package would make a cluster of its own at once. Whoever has PostgreSQL already has decided about that.
no_cluster=/etc/postgresql-common/createcluster.d/no-main.conf
if [[ " ${missing[*]} " == *" postgresql-15 "* ]] && [ ! -e "$no_cluster" ]; then
  mkdir -p "${no_cluster%/*}"
  echo 'create_main_cluster = false' >"$no_cluster"
fi

echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet=2
$command --yes --quiet=2 -o Dpkg::Use-Pty=0 >/dev/null

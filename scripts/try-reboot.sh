#!/usr/bin/env bash
# Boots a Debian with systemd as its init in a container, brings a small stack up in it, reboots it, and expects the stack
# to come back by itself; then removes the stack and expects its unit to be gone. Needs root. The root file system is
# kept in ~/.cache/holdfast for the next time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
for program in mmdebstrap systemd-nspawn; do command -v "$program" >/dev/null || missing+=("$program"); done
if ((${#missing[@]} > 0)); then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap systemd-container >/dev/null
fi

packages=systemd,systemd-sysv,dbus,etcd-server,etcd-client,bind9-dnsutils,iproute2,procps,util-linux
base="${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/reboot/bookworm.tar"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ ! -e "$base" ]]; then
  mkdir -p "$(dirname "$base")"
  mmdebstrap --quiet --variant=minbase --include="$packages" bookworm "${base%.tar}.new.tar"
  mv "${base%.tar}.new.tar" "$base"
fi
root="$work/root"
mkdir "$root"
tar -C "$root" --xattrs -xf "$base"

chroot "$root" useradd --system --user-group --no-create-home --shell /usr/sbin/nologin holdfast
mkdir -p "$root/opt/holdfast" "$root/opt/try"
cat >"$root/opt/try/stack.yaml" <<'STACK'
name: reboot
target: local
domain: reboot.test
etcd: { members: 1 }
dns: { servers: 1, port: 5353 }
STACK
# Runs at every boot: the first brings the stack up, the second looks at it.
cat >"$root/opt/try/at-boot" <<'SCRIPT'
#!/bin/bash
export HOME=/root PATH=/opt/holdfast/bin:$PATH
cd /opt/try
if [[ ! -e booted ]]; then
  touch booted
  holdfast up stack.yaml --yes --detach --timeout 600 >up.log 2>&1 && touch is-up
  systemctl is-enabled holdfast-stack-reboot.service >enabled
  systemctl reboot
  exit
fi
for ((i = 0; i < 300; i++)); do
  if holdfast status reboot >status.log 2>&1; then touch came-back; break; fi
  sleep 1
done
holdfast down reboot --purge --yes >down.log 2>&1 && touch is-down
ls /etc/systemd/system >units
systemctl poweroff
SCRIPT
chmod +x "$root/opt/try/at-boot"
cat >"$root/etc/systemd/system/at-boot.service" <<'UNIT'
[Unit]
After=multi-user.target

[Service]
ExecStart=/opt/try/at-boot
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../at-boot.service "$root/etc/systemd/system/multi-user.target.wants/at-boot.service"

fail() {
  echo "try-reboot: $1" >&2
  tail -n 20 "$root"/opt/try/*.log >&2 || true
  exit 1
}

# A reboot ends the container with 133. It is booted by hand, as no manager is there to do it.
boot() {
  timeout 900 systemd-nspawn --directory="$root" --boot --register=no --keep-unit --private-network --console=pipe \
    --bind-ro="$PWD:/opt/holdfast" >"$work/console.log" 2>&1 </dev/null
}
boot || [[ $? -eq 133 ]] || fail 'the container did not reboot'
[[ -e "$root/opt/try/is-up" ]] || fail 'the stack was not brought up'
[[ "$(cat "$root/opt/try/enabled")" == enabled ]] || fail 'the unit is not enabled'
boot || fail 'the container did not stop'
[[ -e "$root/opt/try/came-back" ]] || fail 'the stack did not come back after the reboot'
[[ -e "$root/opt/try/is-down" ]] || fail 'the stack was not removed'
if grep -q holdfast "$root/opt/try/units"; then fail 'down left the unit behind'; fi
cat "$root/opt/try/status.log"
echo 'try-reboot: the stack came back after a reboot'

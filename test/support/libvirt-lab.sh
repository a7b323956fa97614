#!/bin/bash
# A libvirtd that nobody else has to do with, in mount, network, pid and cgroup namespaces of its own, where libvirt's
# directories are covered by those below DIRECTORY. It lives as long as our input is open, however that ends: then the
# kernel ends whatever was started in the namespaces, and we remove what is left of it.
# Usage: libvirt-lab.sh DIRECTORY [unshare's options]
set -euo pipefail
directory=$1
id=$(basename "$directory")
STARTER=/usr/lib/libvirt/libvirt_lxc

# What there is of control groups: one of version 2, or one of version 1 for each controller.
hierarchies() {
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts
}

enter_own_cgroups() {
  local hierarchy
  for hierarchy in $(hierarchies); do
    mkdir "$hierarchy/$id"
    # A new one of these (version 1) takes no process before it has processors and memory.
    if [ -e "$hierarchy/cpuset.sched_load_balance" ]; then
      cat "$hierarchy/cpuset.cpus" >"$hierarchy/$id/cpuset.cpus"
      cat "$hierarchy/cpuset.mems" >"$hierarchy/$id/cpuset.mems"
    fi
    echo "$BASHPID" >"$hierarchy/$id/cgroup.procs"
  done
}

# A process that was killed may take a moment to leave its group.
remove_own_cgroups() {
  local hierarchy
  for hierarchy in $(hierarchies); do
    for _ in {1..50}; do
      find "$hierarchy/$id" -depth -type d -exec rmdir {} + 2>/dev/null || true
      [ -d "$hierarchy/$id" ] || break
      sleep 0.1
    done
  done
}

cover() {
  mkdir -p "$directory/$1" "$2"
  mount --bind "$directory/$1" "$2"
}

# Mounted anew, /sys has the interfaces of our network, and the root of each hierarchy is our own group: libvirt names groups
# after domains, and two labs may have domains of the same name.
cover_sys() {
  local hierarchy type options controllers
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2, $3, $4 }' /proc/mounts >"$directory/hierarchies"
  mount -t sysfs sysfs /sys
  grep -q '^/sys/fs/cgroup ' "$directory/hierarchies" || mount -t tmpfs tmpfs /sys/fs/cgroup
  while read -r hierarchy type options; do
    mkdir -p "$hierarchy"
    if [ "$type" = cgroup ]; then
      # The others are flags of the mount.
      controllers=$(tr , '\n' <<<"$options" | grep -vxE 'rw|ro|relatime|noexec|nosuid|nodev|xattr|release_agent=.*')
      mount -t cgroup -o "$(paste -sd , <<<"$controllers")" cgroup "$hierarchy"
    else
      mount -t cgroup2 cgroup2 "$hierarchy"
      # Groups of version 2 have processes or groups below them, not both.
      mkdir "$hierarchy/lab"
      echo $$ >"$hierarchy/lab/cgroup.procs"
    fi
  done <"$directory/hierarchies"
}

# Groups of systemd itself are made for a container by systemd-machined, which is not here: without, the systemd of every
# container takes those of the lab for its own, and they are in each other's way. So each gets some before it is started.
cover_container_starter() {
  [ -x "$STARTER" ] && ! grep -q '^/sys/fs/cgroup ' "$directory/hierarchies" || return 0
  cp "$STARTER" "$directory/container-starter"
  cat >"$directory/starter" <<END
#!/bin/sh
while read -r hierarchy _; do
  mkdir -p "\$hierarchy/container-\$\$"
  [ ! -e "\$hierarchy/cpuset.cpus" ] || continue
  echo "\$\$" >"\$hierarchy/container-\$\$/cgroup.procs"
done <"$directory/hierarchies"
exec "$directory/container-starter" "\$@"
END
  chmod 755 "$directory/starter"
  mount --bind "$directory/starter" "$STARTER"
}

inside() {
  mount --make-rprivate /
  cover_sys
  mkdir "$directory/etc"
  cp -a /etc/libvirt/. "$directory/etc/"
  rm -rf "$directory"/etc/{qemu/networks,storage}/{autostart,*.xml} "$directory"/etc/{qemu,lxc}/{autostart,*.xml}
  cover etc /etc/libvirt
  cover lib /var/lib/libvirt
  cover run /run/libvirt
  cover log /var/log/libvirt
  cover cache /var/cache/libvirt
  cover_container_starter
  # Where roots of containers are written to: what is below DIRECTORY may be an overlay itself, and then cannot be part of one.
  mkdir "$directory/overlays"
  mount -t tmpfs -o mode=755 tmpfs "$directory/overlays"
  mkdir -p /run/netns
  mount -t tmpfs tmpfs /run/netns
  printf '%s\n' 'unix_sock_group = "root"' 'auth_unix_rw = "none"' >>/etc/libvirt/libvirtd.conf
  printf '%s\n' 'user = "root"' 'group = "root"' 'security_driver = "none"' >>/etc/libvirt/qemu.conf
  ip link set lo up
  virtlogd --daemon --pid-file /run/libvirt/virtlogd.pid
  libvirtd --daemon --pid-file /run/libvirt/libvirtd.pid
  echo ready
  # As the first process it reaps what daemons leave behind, while it waits.
  read -r _ || true
}

if [ "${LIBVIRT_LAB_INSIDE:-}" = "$id" ]; then
  inside
else
  # Whoever ends us closes our input, too; there is something to remove then.
  trap '' INT TERM HUP
  (
    enter_own_cgroups
    # Its only child is the first process inside.
    echo "$BASHPID"
    export LIBVIRT_LAB_INSIDE=$id
    exec unshare --mount --pid --cgroup "${@:2}" --fork --mount-proc bash "$0" "$directory"
  ) || true
  remove_own_cgroups
  rm -rf "$directory"
fi

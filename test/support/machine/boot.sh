#!/bin/sh
# boot.sh ROOT NAME systemd|nothing   starts a machine: ROOT becomes the root file system of a process 1 in namespaces of its own. The network is the caller's.
# boot.sh ROOT NAME forget            removes what is left of it when its processes have ended
set -eu
root=$1
name=$2
init=$3

# The machine's processes are in a control group of their own, in the second hierarchy, which is the root of what they see.
with_groups() {
  groups=$(mktemp -d)
  mount -t cgroup2 cgroup2 "$groups"
  "$@"
  umount "$groups"
  rmdir "$groups"
}
join_group() {
  mkdir -p "$groups/$name"
  echo $$ >"$groups/$name/cgroup.procs"
}
remove_group() {
  # Killed processes are there a moment longer.
  while [ -d "$groups/$name" ]; do find "$groups/$name" -depth -type d -exec rmdir '{}' '+' 2>/dev/null || sleep 0.1; done
}

mount_all() {
  mount --make-rprivate /
  mount --bind "$root" "$root"
  cd "$root"
  mount -t proc proc proc
  # The settings of the kernel are those of the host.
  mount --bind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs tmpfs tmp
  mount -t tmpfs -o mode=755 tmpfs dev
  for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
    numbers=${node#*:}
    mknod -m 666 "dev/${node%%:*}" c "${numbers%:*}" "${numbers#*:}"
  done
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
  mount -t tmpfs tmpfs dev/shm
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  hostname "$name"
  pivot_root . .
  umount -l .
  # As systemd does outside of containers: it passes credentials to services by mounts.
  mount --make-rshared /
}

case $init in
  systemd | nothing)
    with_groups join_group
    exec unshare --fork --kill-child --pid --mount --uts --ipc --cgroup "$0" "$root" "$name" "in-$init"
    ;;
  in-systemd)
    mount_all
    echo booting
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=other /lib/systemd/systemd --log-target=journal </dev/null
    ;;
  in-nothing)
    mount_all
    echo booting
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c 'while :; do sleep 3600; done' </dev/null
    ;;
  forget) with_groups remove_group ;;
esac

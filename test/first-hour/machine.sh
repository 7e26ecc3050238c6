# Functions for scripts that need a clean Debian 12 with a running systemd, in namespaces of its own.

# base_root prints the archive of a minimal Debian 12, which it makes once, in minutes.
base_root() {
  local base=${XDG_CACHE_HOME:-$HOME/.cache}/shortline/roots/bookworm.tar folder
  if [ ! -e "$base" ]; then
    command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; } >&2
    folder=$(mktemp -d)
    mkdir -p "$(dirname "$base")"
    debootstrap --variant=minbase --include=curl,ca-certificates,systemd bookworm "$folder/root" >&2 || return
    tar -C "$folder/root" -cf "$base.new" . && mv "$base.new" "$base"
    rm -rf "$folder"
  fi
  echo "$base"
}

# boot ROOT NETWORK starts systemd in a root folder and in a network namespace, and sets machine to the process on the outside. Both
# systemd and everything that it starts end with the machine.
boot() {
  local group=/sys/fs/cgroup/machine-$$ n
  [ -e /sys/fs/cgroup/cgroup.controllers ] || group=/sys/fs/cgroup/unified/machine-$$
  mkdir -p "$group"
  (
    echo "$BASHPID" >"$group/cgroup.procs"
    exec setsid nsenter --net="$2" -- unshare --mount --pid --ipc --uts --cgroup --fork --kill-child --propagation private bash -c '
      set -e
      cd "$1"
      mount --bind . . && cd "$1"
      mount -t proc proc proc && mount -t sysfs -o ro sysfs sys && mount -t cgroup2 cgroup2 sys/fs/cgroup
      mount -t tmpfs -o mode=755 tmpfs run && mount -t tmpfs -o mode=1777 tmpfs tmp && mount -t tmpfs -o mode=755 tmpfs dev
      for device in null zero full random urandom tty; do touch dev/$device && mount --bind /dev/$device dev/$device; done
      mkdir dev/shm dev/pts && mount -t tmpfs tmpfs dev/shm && mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
      ln -s pts/ptmx dev/ptmx && ln -s /proc/self/fd dev/fd
      mkdir -p .outside && pivot_root . .outside && umount -l /.outside
      exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=journal --show-status=0
    ' - "$1" </dev/null >"$1.log" 2>&1
  ) &
  machine=$!
  for n in $(seq 1200); do
    [ "$(on_machine systemctl is-system-running 2>/dev/null)" != running ] || return 0
    kill -0 "$machine" 2>/dev/null || { cat "$1.log"; return 1; }
    sleep 0.1
  done
  on_machine systemctl --failed --no-pager
  return 1
}

# on_machine COMMAND... runs a command on the machine, as a login of root would.
on_machine() {
  local first
  first=$(pgrep -P "$(pgrep -P "$machine" -x unshare || echo "$machine")" | head -1)
  nsenter --target "$first" --mount --pid --net --ipc --uts --cgroup -- \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

# shut_down ends the machine.
shut_down() {
  [ -z "${machine:-}" ] || { kill -KILL "$(pgrep -P "$machine" -x unshare || echo "$machine")" "$machine" 2>/dev/null || true; wait "$machine" 2>/dev/null || true; }
  machine=
  find /sys/fs/cgroup/machine-$$ /sys/fs/cgroup/unified/machine-$$ -depth -type d -exec rmdir {} \; 2>/dev/null || true
}

# blocks FILE HEADING prints the shell blocks below a heading of the second level.
blocks() { awk -v h="## $2" '$0 == h { on = 1; next } /^## / { on = 0 } on && /^```$/ { block = 0 } on && block { print } on && /^```sh$/ { block = 1 }' "$1"; }

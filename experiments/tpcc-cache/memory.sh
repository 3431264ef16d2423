#!/bin/sh
# Makes a memory cgroup with a limit, which a server joins when it starts, and
# takes it away again. Page cache counts too, so the limit decides how much of the
# data a server with buffered I/O finds in memory.
#
#   memory.sh up NAME BYTES
#   memory.sh down NAME
set -eu
memory=/sys/fs/cgroup/memory
group=$memory/dbmatrix-$2
case $1 in
up)
  if [ ! -w $memory/cgroup.procs ]; then
    echo "no memory limits in $memory: it takes root and the controller of cgroup v1" >&2
    exit 1
  fi
  mkdir -p "$group"
  echo "$3" >"$group/memory.limit_in_bytes"
  chmod 666 "$group/cgroup.procs" # the server joins as the user that it runs as
  ;;
down)
  # A server that is still stopping goes on outside.
  while read -r process; do
    echo "$process" >$memory/cgroup.procs || true
  done <"$group/cgroup.procs"
  rmdir "$group"
  ;;
esac

#!/usr/bin/env bash
# Makes places for files on filesystems of their own: images in .storages/, each
# behind a loop device, with a machine file that declares them as storages.
#
#   scripts/storages.sh up NAME...     makes and mounts what is not there yet
#   scripts/storages.sh down           unmounts and removes all of them
#
#   ext4, xfs, btrfs     one image each
#   btrfs_single         btrfs on one image, data once
#   btrfs_raid0          btrfs on two, data in stripes
#   btrfs_raid1          btrfs on two, data on both
#   btrfs_raid10         btrfs on four, stripes of mirrored pairs
#   tier                 ext4 on one image, for an experiment that slows its device down
#
# Only root may do this. All images lie on one disk: what their layouts add up to
# is the work of the filesystem, never the speed of several devices.
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh

top=$PWD/.storages
# A checkout that the servers' user cannot reach is no place for its files.
if [ "$(id -u)" = 0 ] && ! setpriv --reuid=mysql --regid=mysql --clear-groups test -x "$PWD" 2>/dev/null; then
  top=/var/lib/dbmatrix/storages
fi
size=${STORAGE_SIZE:-6G}

# images NAME prints how many images a storage has.
images() {
  case $1 in
  btrfs_raid0 | btrfs_raid1) echo 2 ;;
  btrfs_raid10) echo 4 ;;
  *) echo 1 ;;
  esac
}

# up NAME makes one storage, unless it is mounted.
up() {
  local name=$1 dir=$top/$1 i image device devices=()
  ! mountpoint -q "$dir" || return 0
  mkdir -p "$dir" "$top/images"
  for i in $(seq "$(images "$name")"); do
    image=$top/images/$name.$i
    rm -f "$image"
    truncate -s "$size" "$image" # sparse: it takes what is written
    device=$(losetup --find --show "$image") || die "no loop device for $image"
    devices+=("$device")
  done
  case $name in
  ext4 | tier) mkfs.ext4 -q -F "${devices[0]}" ;;
  xfs) mkfs.xfs -q -f "${devices[0]}" ;;
  btrfs) mkfs.btrfs -q -f "${devices[0]}" >/dev/null ;;
  btrfs_*) mkfs.btrfs -q -f -d "${name#btrfs_}" -m "${name#btrfs_}" "${devices[@]}" >/dev/null ;;
  esac
  mount "${devices[0]}" "$dir" || die "this kernel does not mount $name"
  mkdir "$dir/dbmatrix"
  say "mounted $name: ${#devices[@]} image(s) of $size"
}

# down unmounts what lies in the folder and frees the loop devices of its images,
# told by the path of the image; nothing else is touched.
down() {
  local dir image
  [ -d "$top" ] || return 0
  rm -f "$top/machine.hcl"
  for dir in "$top"/*/; do
    ! mountpoint -q "$dir" || umount "$dir"
    [ "$dir" = "$top/images/" ] || rmdir "$dir"
  done
  for image in "$top"/images/*; do
    [ -e "$image" ] || continue
    losetup -j "$image" -n -O NAME | xargs -r losetup -d
    rm "$image"
  done
  rmdir "$top/images" "$top"
}

# machine declares the storages that are mounted.
machine() {
  local dir
  echo '# The storages that scripts/storages.sh has mounted.'
  for dir in "$top"/*/; do
    ! mountpoint -q "$dir" || printf '\nstorage "%s" {\n  dir = "%sdbmatrix"\n}\n' "$(basename "$dir")" "$dir"
  done
}

usage() { die "usage: scripts/storages.sh up NAME... | down"; }

[ "$(id -u)" = 0 ] || die "loop devices and mounts are root's: run it as root"
case ${1:-} in
up)
  shift
  [ $# -gt 0 ] || usage
  for name in "$@"; do
    case $name in
    ext4 | xfs | btrfs | btrfs_single | btrfs_raid0 | btrfs_raid1 | btrfs_raid10 | tier) ;;
    *) die "no storage is called $name" ;;
    esac
  done
  [ -e /dev/loop-control ] || die "this kernel has no loop devices"
  need e2fsprogs xfsprogs btrfs-progs
  for name in "$@"; do up "$name"; done
  machine >"$top/machine.hcl"
  echo "$top/machine.hcl"
  ;;
down) down ;;
*) usage ;;
esac

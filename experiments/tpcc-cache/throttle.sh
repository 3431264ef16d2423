#!/bin/sh
# Limits the device under a directory to so many bytes a second, reads and writes
# each, for all processes; 0 takes the limit away. It is meant for a loop device:
# of a disk it would slow down the whole machine, so that is refused.
#
#   throttle.sh DIRECTORY BYTES
set -eu
device=$(findmnt --noheadings --output SOURCE --target "$1")
case $device in
/dev/loop*) ;;
*)
  echo "$1 lies on $device, which is no loop device: not throttled" >&2
  exit 1
  ;;
esac
blkio=/sys/fs/cgroup/blkio
if [ ! -w $blkio/blkio.throttle.read_bps_device ]; then
  echo "no blkio throttling in $blkio: it takes root and the controller of cgroup v1" >&2
  exit 1
fi
number=$(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ')
for direction in read write; do
  echo "$number $2" >$blkio/blkio.throttle.${direction}_bps_device
done

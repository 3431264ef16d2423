#!/usr/bin/env bash
# Runs the experiments that were published elsewhere, at the small scale, and
# leaves each one's tables in its RESULTS.md.
#
#   scripts/experiments.sh [PART|NAME...]
#
# Without an argument all parts, one after the other. What was measured before is
# not measured again, so it may be broken off at any time: the next call goes on.
# A part ends by itself after LIMIT (90m), at the end of an iteration.
#
#   SCALE   tiny, small or published; small unless set
#   LIMIT   how long one call measures at most
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh

parts=(
  "fsync-rate fileio-layouts durability concurrency-tickets full-page-writes tpcc-buffer-pool tpcc-cache"
  "linkbench-single-threaded linkbench-cached linkbench-dio transparent-compression"
  "insert-benchmark-dio linkbench-io-bound"
)
scale=${SCALE:-small}

# seconds DURATION prints it in seconds: 90m, 2h, 30s.
seconds() {
  case $1 in
  *h) echo $((${1%h} * 3600)) ;;
  *m) echo $((${1%m} * 60)) ;;
  *s) echo "${1%s}" ;;
  *) die "LIMIT is a time such as 90m, not $1" ;;
  esac
}

# storages NAME prints the storages of scripts/storages.sh that an experiment
# declares.
storages() {
  grep -ohE '^storage "(ext4|xfs|btrfs|btrfs_single|btrfs_raid0|btrfs_raid1|btrfs_raid10|tier)"' experiments/"$1"/*.hcl |
    cut -d '"' -f 2
}

# measure NAME runs one experiment and writes its report. It returns the exit code
# of dbmatrix run, or 3 where this host lacks the places that it needs.
measure() {
  local name=$1 dir=experiments/$1 places args rc=0
  args=(--var "scale=$scale")
  places=$(storages "$name")
  if [ -n "$places" ]; then
    if [ "$(id -u)" != 0 ]; then
      say "$name needs filesystems of its own ($(echo $places)), which only root can mount: run it as root"
      return 3
    fi
    # shellcheck disable=SC2086 # one name a word
    scripts/storages.sh up $places >/dev/null || return 3
    args+=(--machine "$(storages_machine)")
  fi
  timeout --foreground --signal=INT "$((deadline - $(date +%s)))" \
    bin/dbmatrix run "$dir" "${args[@]}" || rc=$?
  [ "$rc" != 124 ] || rc=130
  if [ -e "$dir/results.db" ]; then
    bin/dbmatrix report "$dir" "${args[@]}" --partial --format markdown -o "$dir/RESULTS.md" || [ "$rc" != 0 ] || rc=1
  fi
  [ -z "$places" ] || scripts/storages.sh down || rc=3
  return "$rc"
}

storages_machine() {
  local file
  for file in .storages/machine.hcl /var/lib/dbmatrix/storages/machine.hcl; do
    [ ! -e "$file" ] || { echo "$file"; return; }
  done
}

chosen=()
for arg in "$@"; do
  case $arg in
  [0-9]*)
    { [ "$arg" -ge 1 ] && [ "$arg" -le ${#parts[@]} ]; } 2>/dev/null || die "there are parts 1 to ${#parts[@]}, and no part $arg"
    # shellcheck disable=SC2206 # one name a word
    chosen+=(${parts[arg - 1]})
    ;;
  *)
    [ -e "experiments/$arg/experiment.hcl" ] || die "there is no experiment $arg"
    chosen+=("$arg")
    ;;
  esac
done
# shellcheck disable=SC2206 # one name a word
[ ${#chosen[@]} -gt 0 ] || chosen=(${parts[*]})

export PATH=$PWD/bin:$PATH # for go-tpc
began=$(date +%s)
deadline=$((began + $(seconds "${LIMIT:-90m}")))
stopped=
trap 'stopped=yes' INT TERM

summary=()
failed=0
for name in "${chosen[@]}"; do
  start=$(date +%s)
  if [ -n "$stopped" ] || [ "$start" -ge "$deadline" ]; then
    summary+=("$name: left for the next call")
    failed=1
    continue
  fi
  rc=0
  measure "$name" || rc=$?
  case $rc in
  0) outcome=done ;;
  1) outcome="has failed runs" ;;
  2) outcome="is not valid" ;;
  3) outcome="cannot run here" ;;
  130) outcome="broken off; the next call goes on" stopped=yes ;;
  *) outcome="ended with $rc" ;;
  esac
  [ "$rc" = 0 ] || failed=1
  summary+=("$name: $outcome, $(($(date +%s) - start)) s")
done

say "all in all $(($(date +%s) - began)) s at scale $scale"
for line in "${summary[@]}"; do say "$line"; done
exit $failed

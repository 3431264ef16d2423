#!/usr/bin/env bash
# Installs, through apt, the programs beside Go that building and testing need:
# a C compiler, since SQLite is compiled in; sysbench, which one of the workloads
# runs; chromium, in which the HTML page is opened; and sysstat and procps, whose
# numbers ours are compared with. Does nothing where they are there.
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh

if ! command -v gcc >/dev/null; then
  need gcc libc6-dev
fi
if ! command -v sysbench >/dev/null; then
  need sysbench
fi
if ! command -v chromium >/dev/null; then
  need chromium
fi
if ! command -v iostat >/dev/null; then
  need sysstat
fi
if ! command -v vmstat >/dev/null; then
  need procps
fi

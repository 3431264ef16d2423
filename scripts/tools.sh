#!/usr/bin/env bash
# Installs, through apt, the programs beside Go that building and testing need:
# a C compiler, since SQLite is compiled in, and sysbench, which one of the
# workloads runs. Does nothing where they are there.
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh

if ! command -v gcc >/dev/null; then
  need gcc libc6-dev
fi
if ! command -v sysbench >/dev/null; then
  need sysbench
fi

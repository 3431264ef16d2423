#!/usr/bin/env bash
# Runs the quickstart on real servers, prints its tables and leaves them in
# RESULTS.md beside it. What was measured before is not measured again.
set -eu
cd "$(dirname "$0")/.."

experiment=experiments/quickstart
bin/dbmatrix run "$experiment"
bin/dbmatrix report "$experiment" --format markdown -o "$experiment/RESULTS.md"
bin/dbmatrix report "$experiment" --format text

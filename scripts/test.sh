#!/usr/bin/env bash
# Installs what is needed, builds everything, runs every test.
# Ends with a line "N passed, N failed"; the exit code says the same.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_packages.sh
scripts/configure.sh build >/dev/null
cmake --build build
log=build/ctest.log
reports=build/test-reports
rm -f "$reports"/* # of an earlier run
set +e
ctest --test-dir build --output-on-failure -j "$(nproc)" 2>&1 | tee "$log"
code=${PIPESTATUS[0]}
python3 scripts/summarise_tests.py "$log" "$reports"
[ $? -eq 0 ] && exit "$code"
exit 1

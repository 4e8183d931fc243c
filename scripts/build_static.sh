#!/usr/bin/env bash
# Builds self-contained attn-opt and attn-run in build-static/bin: they need only
# libz, libzstd, libc and libm of the machine they run on.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_packages.sh
scripts/configure.sh build-static -DATTN_STATIC=ON -DATTN_TESTS=OFF >/dev/null
cmake --build build-static --target attn-opt attn-run
mkdir -p build-static/bin
for tool in attn-opt attn-run; do
  llvm-strip-22 -o "build-static/bin/$tool" "build-static/tools/$tool/$tool"
done
ls -l build-static/bin

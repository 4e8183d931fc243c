#!/usr/bin/env bash
# Builds self-contained attn-opt, attn-run and sim_vs_gpu in build-static/bin: they
# need only libz, libzstd, libc and libm of the machine they run on.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_packages.sh
scripts/configure.sh build-static -DATTN_STATIC=ON -DATTN_TESTS=OFF >/dev/null
cmake --build build-static --target attn-opt attn-run sim_vs_gpu
mkdir -p build-static/bin
for tool in tools/attn-opt/attn-opt tools/attn-run/attn-run test/Gpu/sim_vs_gpu; do
  llvm-strip-22 -o "build-static/bin/$(basename "$tool")" "build-static/$tool"
done
ls -l build-static/bin

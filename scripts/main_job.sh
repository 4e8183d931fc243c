#!/usr/bin/env bash
# Installs what is needed, builds attn-opt and attn-run, and runs a specification:
#   scripts/main_job.sh [SPEC] [attn-run options...]
# On an NVIDIA GPU if there is one, else on the simulator.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_packages.sh
scripts/configure.sh build >/dev/null
cmake --build build --target attn-opt attn-run
spec=${1:-specs/causal.attn}
shift || true
[ $# -gt 0 ] || set -- --batch 1 --q-len 256 --k-len 256
ptx=build/$(basename "$spec" .attn).ptx
build/tools/attn-opt/attn-opt "$spec" --emit=ptx >"$ptx"
echo "PTX: $ptx ($(wc -l <"$ptx") lines)"
ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
if [ -x "$ptxas" ]; then
  arch=$(sed -n 's/^\.target \(sm_[0-9a-z]*\).*/\1/p' "$ptx")
  "$ptxas" -v -arch="$arch" -o /dev/null "$ptx" 2>&1 | grep -E 'registers|spill'
fi
exec build/tools/attn-run/attn-run "$spec" --check "$@"

#!/usr/bin/env bash
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Fuzzes the PTX parser of the simulator and the front end for specs, each for some
# seconds, from the texts of this repository. Needs libclang-rt-22-dev.
#
#   scripts/configure.sh build-fuzz -DATTN_FUZZ=ON -DATTN_TESTS=OFF
#   ninja -C build-fuzz ptx_fuzzer spec_fuzzer
#   scripts/fuzz.sh build-fuzz 600
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/fuzz.sh BUILD_FOLDER SECONDS}
seconds=${2:?usage: scripts/fuzz.sh BUILD_FOLDER SECONDS}
options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1)
export ASAN_OPTIONS=allocator_may_return_null=1

# What is found stays in the build folder; crashes are written there as well.
fuzz() {
  local name=$1
  shift
  mkdir -p "$build/$name.corpus"
  "$build/test/Fuzz/$name" "${options[@]}" -artifact_prefix="$build/$name." "$build/$name.corpus" "$@"
}
# Words of PTX that random bytes would not find.
grep -ohE '[a-z_.][a-z0-9_.:]{3,}' test/Fuzz/ptx/*.ptx | sort -u | sed 's/.*/"&"/' >"$build/ptx.dict"
fuzz ptx_fuzzer -max_len=4096 -dict="$build/ptx.dict" test/Fuzz/ptx
grep -ohE '[a-z_]{2,}' specs/*.attn test/Fuzz/spec/*.attn | sort -u | sed 's/.*/"&"/' >"$build/spec.dict"
fuzz spec_fuzzer -max_len=4096 -dict="$build/spec.dict" test/Fuzz/spec specs test/Spec/bad

#!/usr/bin/env bash
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# delete_synchronization.py for every shipped specification, with few heads (the
# synchronisation is the same) and runs that reach every path: full and partial
# tiles, rows without keys, no keys at all, several work items per block. About a
# minute each on two cores; one line of result each.
#
#   scripts/delete_in_shipped.sh BUILD_FOLDER [TARGET]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/delete_in_shipped.sh BUILD_FOLDER [TARGET]}
target=${2:-sm_80}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp specs/*.attn "$work"

# heads 32 / 8 becomes 8 / 2: groups stay what they are.
sed -i -E -e 's/(heads +)32 \/ 8/\18 \/ 2/; s/(heads +)28 \/ 4/\17 \/ 1/; s/(heads +)32 \/ 1$/\14 \/ 1/' \
  -e 's/(heads +)64 \/ 8/\18 \/ 1/; s/(heads +)16 \/ 8/\14 \/ 2/; s/(heads +)(32|16)$/\13/' "$work"/*.attn

# Arguments that a specification cannot run without.
arguments_of() {
  case $1 in
    alibi) echo --tensor=slope=random ;;
    relative_bias) echo --tensor=bias=random ;;
    softcap) echo --q-fill=normal:8 ;;
    window) echo --param=left=20 ;;
    window_both) echo --param=left=20 --param=right=33 ;;
    sinks_window) echo --param=left=20 --param=sinks=3 ;;
    sink_logits) echo --param=left=20 --tensor=sinks=random ;;
    prefix_lm) echo --tensor=prefix_len=35 ;;
    length_mask) echo --tensor=length=150 ;;
  esac
}

failed=0
for spec in "$work"/*.attn; do
  name=$(basename "$spec" .attn)
  [ "$name" = std ] && continue
  "$build/tools/attn-opt/attn-opt" "$spec" --emit=package --target="$target" -o "$work/$name.pkg"
  runs=()
  for shape in "--q-len=200 --k-len=281" "--q-len=130 --k-len=0" "--q-len=200 --k-len=70" "--q-len=300 --k-len=400"; do
    runs+=(--run "$(arguments_of "$name") --batch=1 --grid=2 $shape")
  done
  if ! python3 scripts/delete_synchronization.py "$build/tools/attn-run/attn-run" "$work/$name.pkg" "${runs[@]}" \
    >"$work/$name.log"; then
    failed=1
    grep -E "NOT FOUND|LISTED" "$work/$name.log" || cat "$work/$name.log"
  fi
  tail -1 "$work/$name.log"
done
exit $failed

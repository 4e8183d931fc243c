#!/usr/bin/env bash
# Checks that C++ sources are formatted as .clang-format says.
set -euo pipefail
cd "$(dirname "$0")/.."
find include lib tools test bench examples \( -name '*.c' -o -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 clang-format-22 --dry-run -Werror

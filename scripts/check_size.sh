#!/usr/bin/env bash
# Checks that no file or function is longer than its kind may be, in lines.
# Long files are where code bases rot; split by what belongs together.
set -euo pipefail
cd "$(dirname "$0")/.."

# The most lines of a file, by its path; the first pattern that matches counts.
limit_of() {
  case $1 in
    test/Unit/*.cpp | test/Unit/*.h) echo 700 ;;
    test/Unit/*) echo 0 ;; # inputs
    tools/*/attn-*.cpp) echo 150 ;;
    include/*.h) echo 250 ;;
    *.td) echo 600 ;;
    lib/Conversion/*.cpp | lib/Sim/*.cpp) echo 700 ;;
    *.c | *.cpp | *.h | *.py | *.sh) echo 500 ;;
    test/*.mlir | test/*.test | test/*.attn | test/*.ptx) echo 400 ;;
    *) echo 0 ;; # no limit
  esac
}

failed=0
complain() {
  echo "$1"
  failed=1
}

while read -r file; do
  limit=$(limit_of "$file")
  lines=$(wc -l <"$file")
  if [ "$limit" -gt 0 ] && [ "$lines" -gt "$limit" ]; then
    complain "$file: error: expected at most $limit lines, found $lines; split it"
  fi
done < <(find include lib tools test scripts bench examples -type f -not -path '*/__pycache__/*' | sort)

# Functions of C++ sources. clang-format puts the closing brace of a body at the
# indentation of its declaration. Namespaces, classes, enums and tables hold
# functions or data; anything else that opens a body outside one is a function.
max_function=80
while read -r complaint; do
  complain "$complaint"
done < <(find include lib tools examples -name '*.c' -o -name '*.cpp' -o -name '*.h' | sort | xargs awk -v most="$max_function" '
  FNR == 1 { start = 0; declaration = "" }
  {
    match($0, /^ */)
    indent = RLENGTH
    text = substr($0, indent + 1)
  }
  start {
    if (indent == depth && text ~ /^}/) {
      lines = FNR - start + 1
      if (lines > most)
        printf "%s:%d: error: expected a function of at most %d lines, found %d\n", FILENAME, start, most, lines
      start = 0
      declaration = ""
    }
    next
  }
  declaration == "" { first = FNR; depth = indent }
  { declaration = declaration text " " }
  text ~ /\{$/ {
    if (declaration !~ /^(inline )?namespace|^extern|= *\{ $/ &&
        declaration !~ /^(template <.*> )?(class|struct|enum|union) /)
      start = first
    declaration = ""
  }
  text ~ /[;}:]$/ || text ~ /^(\/\/|#)/ || text == "" { declaration = "" }
')

[ "$failed" -eq 0 ] && echo "sizes are within their limits"
exit "$failed"

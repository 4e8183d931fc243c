//===- Diagnostics.cpp - Reporting through a SourceMgr --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include <algorithm>
#include <vector>

using namespace attn::spec;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::SourceMgr;
using llvm::StringRef;
using llvm::Twine;

void Diagnostics::errorAt(SMLoc caret, SMRange range, const Twine &message) {
  lastShown = false;
  if (!seen.insert({caret.getPointer(), message.str()}).second)
    return;
  ++errors;
  if (errors <= maxErrors) {
    sources.PrintMessage(caret, SourceMgr::DK_Error, message, range);
    lastShown = true;
  } else if (errors == maxErrors + 1) {
    sources.PrintMessage(caret, SourceMgr::DK_Note,
                         "more than " + Twine(maxErrors) +
                             " errors; the rest is not shown");
  }
}

void Diagnostics::error(SMRange range, const Twine &message) {
  errorAt(range.Start, range, message);
}

void Diagnostics::warning(SMRange range, const Twine &message) {
  sources.PrintMessage(range.Start, SourceMgr::DK_Warning, message, range);
  lastShown = true;
}

void Diagnostics::note(SMRange range, const Twine &message) {
  if (lastShown)
    sources.PrintMessage(range.Start, SourceMgr::DK_Note, message, range);
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a`
/// into `b`: swaps are the commonest slip, and edit_distance counts them twice.
static unsigned slips(StringRef a, StringRef b) {
  std::vector<std::vector<unsigned>> rows(a.size() + 1,
                                          std::vector<unsigned>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      unsigned best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      best = std::min({best, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, rows[i - 2][j - 2] + 1);
      rows[i][j] = best;
    }
  }
  return rows.back().back();
}

std::optional<StringRef> attn::spec::nearest(StringRef name,
                                             llvm::ArrayRef<StringRef> known) {
  // One slip in a short word, one in three letters of a long one; a one-letter
  // name is like any other.
  constexpr size_t longestWord = 64;
  if (name.size() < 2 || name.size() > longestWord)
    return std::nullopt;
  std::optional<StringRef> best;
  unsigned bestCount = std::max<unsigned>(1, name.size() / 3) + 1;
  for (StringRef candidate : known) {
    if (candidate.size() > name.size() + bestCount)
      continue;
    unsigned count = slips(name, candidate);
    if (count < bestCount) {
      best = candidate;
      bestCount = count;
    }
  }
  return best;
}

std::string attn::spec::didYouMean(StringRef name,
                                   llvm::ArrayRef<StringRef> known) {
  if (std::optional<StringRef> best = nearest(name, known))
    return ("; did you mean '" + *best + "'?").str();
  return "";
}

std::string attn::spec::listed(llvm::ArrayRef<StringRef> words,
                               StringRef lastSeparator) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i)
      text += i + 1 == words.size() ? lastSeparator : StringRef(", ");
    text += words[i];
  }
  return text;
}

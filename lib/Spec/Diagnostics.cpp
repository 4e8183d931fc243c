//===- Diagnostics.cpp - Reporting through a SourceMgr --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include <algorithm>

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

std::optional<StringRef> attn::spec::nearest(StringRef name,
                                             llvm::ArrayRef<StringRef> known) {
  // One edit in a short word, one in three letters of a long one; and a wholly
  // different one-letter name is no suggestion.
  unsigned allowed = std::max<unsigned>(1, name.size() / 3);
  allowed = std::min<unsigned>(allowed, name.empty() ? 0 : name.size() - 1);
  std::optional<StringRef> best;
  unsigned bestDistance = allowed + 1;
  for (StringRef candidate : known) {
    unsigned distance = name.edit_distance(
        candidate, /*AllowReplacements=*/true, /*MaxEditDistance=*/allowed);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
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

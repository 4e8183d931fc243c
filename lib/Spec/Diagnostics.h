//===- Diagnostics.h - Reporting through a SourceMgr ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_DIAGNOSTICS_H
#define ATTN_SPEC_DIAGNOSTICS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace attn::spec {

/// The source range that `text`, a piece of a buffer, covers.
inline llvm::SMRange rangeOf(llvm::StringRef text) {
  return {llvm::SMLoc::getFromPointer(text.begin()),
          llvm::SMLoc::getFromPointer(text.end())};
}

/// From the start of `first` to the end of `last`.
inline llvm::SMRange span(llvm::SMRange first, llvm::SMRange last) {
  return {first.Start, last.End};
}

/// Reports through a SourceMgr. The same message at the same place is printed
/// once (a def is checked at each of its uses), and after `maxErrors` the rest
/// is dropped. A note belongs to the error before it and shares its fate.
class Diagnostics {
public:
  static constexpr unsigned maxErrors = 20;

  explicit Diagnostics(llvm::SourceMgr &sources) : sources(sources) {}

  /// The caret stands at the start of `range`, the whole of it is underlined.
  void error(llvm::SMRange range, const llvm::Twine &message);
  /// The same with the caret at `caret`, an operator inside `range`.
  void errorAt(llvm::SMLoc caret, llvm::SMRange range,
               const llvm::Twine &message);
  void warning(llvm::SMRange range, const llvm::Twine &message);
  void note(llvm::SMRange range, const llvm::Twine &message);

  unsigned errorCount() const { return errors; }
  llvm::SourceMgr &sourceMgr() { return sources; }

private:
  llvm::SourceMgr &sources;
  unsigned errors = 0;
  bool lastShown = true;
  std::set<std::pair<const char *, std::string>> seen;
};

/// The entry of `known` closest to `name`, if any is close enough to be what
/// was meant.
std::optional<llvm::StringRef> nearest(llvm::StringRef name,
                                       llvm::ArrayRef<llvm::StringRef> known);

/// "; did you mean 'x'?" for the nearest of `known`, or nothing.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> known);

/// "a, b or c".
std::string listed(llvm::ArrayRef<llvm::StringRef> words,
                   llvm::StringRef lastSeparator = " or ");

} // namespace attn::spec

#endif // ATTN_SPEC_DIAGNOSTICS_H

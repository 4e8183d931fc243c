//===- SpecFuzzer.cpp - Any text as a spec --------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The front end gives a problem and no error, or errors and no problem.
//
//===----------------------------------------------------------------------===//

#include "attn/Spec/Spec.h"

#include "llvm/Support/SourceMgr.h"

#include <cstdlib>

using namespace attn;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::SourceMgr sources;
  unsigned errors = 0;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &diagnostic, void *count) {
        if (diagnostic.getKind() == llvm::SourceMgr::DK_Error)
          ++*static_cast<unsigned *>(count);
      },
      &errors);
  spec::ParseOptions options;
  // Nothing of the file system; an import of itself finds its end.
  options.readFile = [&](llvm::StringRef) { return text.str(); };
  bool parsed =
      spec::parseSpec("fuzz.attn", text, sources, options).has_value();
  if (parsed == (errors > 0))
    std::abort();
  return 0;
}

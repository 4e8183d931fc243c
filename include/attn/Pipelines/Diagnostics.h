//===- Diagnostics.h - Diagnostics with the line they are about -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_DIAGNOSTICS_H
#define ATTN_PIPELINES_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace attn {

/// While it lives, diagnostics of the context are printed as file:line:column
/// with the line from `sources`; remarks only if `explains`.
class DiagnosticPrinter {
public:
  DiagnosticPrinter(llvm::SourceMgr &sources, mlir::MLIRContext *context,
                    llvm::raw_ostream &out, bool explains)
      : printer(sources, context, out),
        filter(context, [explains](mlir::Diagnostic &diagnostic) {
          bool isRemark =
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark;
          // Success ends here; failure hands on to the printer.
          return mlir::success(isRemark && !explains);
        }) {}

private:
  mlir::SourceMgrDiagnosticHandler printer;
  mlir::ScopedDiagnosticHandler filter;
};

} // namespace attn

#endif // ATTN_PIPELINES_DIAGNOSTICS_H

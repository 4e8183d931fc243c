//===- AsyncForms.cpp - mbarriers and bulk copies -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MicroForm.h"

namespace attn::simtest {
namespace {

using Forms = std::vector<MicroForm>;

void addBarriers(Forms &forms) {
  forms.push_back(
      {"mbarrier.arrive, test_wait.parity",
       barrierFor("128") +
           "mbarrier.test_wait.parity.shared.b64 %p0, [%x31], 1;\n"
           "bar.sync 0;\nmbarrier.arrive.shared.b64 %y7, [%x31];\n" +
           waitForBarrier() +
           "mbarrier.test_wait.parity.shared.b64 %p1, [%x31], 0;\n"
           "mbarrier.test_wait.parity.shared.b64 %p2, [%x31], 1;",
       {},
       {{"%p0", "pred"}, {"%p1", "pred"}, {"%p2", "pred"}},
       {},
       false});
  forms.push_back({"mbarrier.pending_count of a new phase",
                   barrierFor("128") +
                       "mbarrier.arrive.shared.b64 %y7, [%x31];\n"
                       "waits:\n"
                       "mbarrier.try_wait.shared.b64 %p6, [%x31], %y7;\n"
                       "@!%p6 bra waits;\nbar.sync 0;\n"
                       "mov.b32 %x0, 0;\n@!%p7 bra none;\n"
                       "mbarrier.arrive.noComplete.shared.b64 %y6, [%x31], 5;\n"
                       "mbarrier.pending_count.b64 %x0, %y6;\nnone:",
                   {},
                   {{"%x0", "u32"}},
                   {},
                   false});
  forms.push_back({"cp.async.mbarrier.arrive.noinc",
                   barrierFor("128") +
                       "st.global.b64 [%g], %i0;\nfence.acq_rel.gpu;\n"
                       "add.u32 %x29, %w, 0;\nmad.lo.u32 %x29, %lane, 8, %w;\n"
                       "cp.async.ca.shared.global [%x29], [%g], 8;\n"
                       "cp.async.mbarrier.arrive.noinc.shared.b64 [%x31];\n" +
                       waitForBarrier() +
                       "xor.b32 %x28, %lane, 3;\n"
                       "mad.lo.u32 %x28, %x28, 8, %w;\n"
                       "ld.shared.b64 %y0, [%x28];",
                   {"b64"},
                   {{"%y0", "b64"}},
                   {},
                   false});
}

/// Thread 0 copies 512 bytes of the inputs of its block.
void addBulkCopies(Forms &forms) {
  forms.push_back(
      {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes",
       barrierFor("1") +
           "mov.u32 %x29, tiles;\n@!%p7 bra copied;\n"
           "mbarrier.arrive.expect_tx.shared.b64 %y7, [%x31], 1024;\n"
           "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
           "[%x29], [%in], 512, [%x31];\nadd.u32 %x28, %x29, 512;\n"
           "add.s64 %y5, %in, 256;\n"
           "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
           "[%x28], [%y5], 512, [%x31];\ncopied:\n" +
           waitForBarrier() +
           "mad.lo.u32 %x29, %t, 8, %x29;\nld.shared.b64 %y0, [%x29];",
       {"b64"},
       {{"%y0", "b64"}},
       {},
       false});
  struct Reduction {
    const char *op, *type;
    unsigned bits;
  };
  static constexpr Reduction reductions[] = {
      {"add", "u32", 32},        {"add", "s32", 32}, {"add", "u64", 64},
      {"inc", "u32", 32},        {"dec", "u32", 32}, {"min", "u32", 32},
      {"max", "s32", 32},        {"min", "s64", 64}, {"max", "u64", 64},
      {"and", "b32", 32},        {"or", "b64", 64},  {"xor", "b32", 32},
      {"add", "f32", 32},        {"add", "f64", 64}, {"add.noftz", "f16", 16},
      {"add.noftz", "bf16", 16}, {"min", "f16", 16}, {"max", "bf16", 16}};
  for (const Reduction &reduction : reductions) {
    std::string type = reduction.type;
    bool floats = type.find('f') != std::string::npos;
    // Old values from input 0, others from input 1; 16 bytes of each thread.
    std::string kind = !floats                ? std::string("b64")
                       : reduction.bits == 64 ? std::string("number f64")
                       : reduction.bits == 32 ? std::string("pairs f32")
                                              : "number " + type + "x2 twice";
    MicroForm form;
    form.name = std::string("cp.reduce.async.bulk.global.shared::cta."
                            "bulk_group.") +
                reduction.op + "." + type;
    form.inputs = {kind, kind};
    form.body = "st.global.v2.b64 [%g], {%i0, %i1};\n"
                "st.shared.v2.b64 [%a], {%i1, %i1};\n"
                "fence.proxy.async;\n" +
                form.name +
                " [%g], [%a], 16;\n"
                "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
                "fence.proxy.async;\nld.global.v2.b64 {%y0, %y1}, [%g];";
    form.anyNan = floats;
    const char *output =
        reduction.bits == 64 ? (floats ? "f64" : "b64") : "b64";
    form.outputs = {{"%y0", output}, {"%y1", output}};
    forms.push_back(form);
  }
}

} // namespace

std::string barrierFor(const std::string &count) {
  return "setp.eq.u32 %p7, %t, 0;\nmov.u32 %x31, own;\nmov.b32 %x30, " + count +
         ";\n@%p7 mbarrier.init.shared.b64 [%x31], %x30;\n"
         "@%p7 fence.mbarrier_init.release.cluster;\n"
         "fence.proxy.async;\nbar.sync 0;\n";
}

std::string waitForBarrier() {
  return "waits:\nmbarrier.try_wait.parity.shared.b64 %p6, [%x31], 0;\n"
         "@!%p6 bra waits;\n";
}

void addAsyncForms(Forms &forms) {
  addBarriers(forms);
  addBulkCopies(forms);
}

} // namespace attn::simtest

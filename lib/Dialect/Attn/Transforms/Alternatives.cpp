//===- Alternatives.cpp - Schedules that one package holds ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Alternatives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn;
using namespace attn::ir;

static constexpr llvm::StringLiteral listName = "attn.alternatives";
static constexpr llvm::StringLiteral nameField = "name";
static constexpr llvm::StringLiteral scheduleField = "schedule";
static constexpr llvm::StringLiteral minQLenField = "min_q_len";

void ir::setAlternatives(KernelOp kernel, ArrayRef<Alternative> alternatives) {
  kernel->removeAttr(listName);
  if (alternatives.empty())
    return;
  Builder builder(kernel.getContext());
  SmallVector<Attribute> entries;
  for (const Alternative &alternative : alternatives) {
    NamedAttrList fields;
    fields.append(nameField, builder.getStringAttr(alternative.name));
    fields.append(scheduleField, alternative.schedule);
    if (alternative.minQLen)
      fields.append(minQLenField,
                    builder.getI64IntegerAttr(alternative.minQLen));
    entries.push_back(fields.getDictionary(kernel.getContext()));
  }
  kernel->setAttr(listName, builder.getArrayAttr(entries));
}

SmallVector<Alternative> ir::getAlternatives(KernelOp kernel) {
  SmallVector<Alternative> alternatives;
  auto entries = kernel->getAttrOfType<ArrayAttr>(listName);
  if (!entries)
    return alternatives;
  for (auto fields : entries.getAsRange<DictionaryAttr>()) {
    auto minQLen = fields.getAs<IntegerAttr>(minQLenField);
    alternatives.push_back({fields.getAs<StringAttr>(nameField).str(),
                            fields.getAs<ScheduleAttr>(scheduleField),
                            minQLen ? minQLen.getInt() : 0});
  }
  return alternatives;
}

LogicalResult ir::takeAlternative(KernelOp kernel, StringRef name) {
  SmallVector<Alternative> alternatives = getAlternatives(kernel);
  kernel->removeAttr(listName);
  if (name == mainAlternativeName)
    return success();
  std::string known = mainAlternativeName.str();
  for (const Alternative &alternative : alternatives) {
    known += ", " + alternative.name;
    if (alternative.name != name)
      continue;
    kernel.setScheduleAttr(alternative.schedule);
    kernel.setSymName((kernel.getSymName() + "_" + name).str());
    return success();
  }
  return kernel.emitError()
         << "no alternative '" << name << "'; this kernel has " << known;
}

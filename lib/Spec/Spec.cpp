//===- Spec.cpp - Parsing and checking .attn specifications ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Spec/Spec.h"

#include "CheckBlock.h"
#include "CheckNames.h"
#include "Imports.h"

#include "llvm/ADT/StringMap.h"

#include "llvm/ADT/StringMap.h"

using namespace attn;
using namespace attn::spec;
using llvm::StringRef;

/// S4: block names are unique in a file.
static void checkBlockNames(const ast::File &file, Diagnostics &diagnostics) {
  llvm::StringMap<const ast::Block *> seen;
  for (const ast::Block &block : file.blocks) {
    auto [first, isNew] = seen.try_emplace(block.name.name, &block);
    if (isNew)
      continue;
    diagnostics.error(block.name.range(),
                      "attention '" + block.name.name + "' is already defined");
    diagnostics.note(first->second->name.range(), "first defined here");
  }
}

/// The block that `--attention` names, or the only one. Null: reported.
static ast::Block *selectBlock(ast::File &file, StringRef name,
                               Diagnostics &diagnostics) {
  llvm::SmallVector<StringRef> names;
  for (ast::Block &block : file.blocks) {
    if (block.name.name == name || (name.empty() && file.blocks.size() == 1))
      return &block;
    names.push_back(block.name.name);
  }
  if (file.blocks.empty())
    diagnostics.error(rangeOf(file.text.take_front(0)),
                      "expected an attention block, found " +
                          StringRef(file.defs.empty() ? "none" : "defs only") +
                          "; write 'attention NAME { ... }'");
  else if (name.empty())
    diagnostics.error(file.blocks[1].name.range(),
                      "the file has " + llvm::Twine(file.blocks.size()) +
                          " attention blocks; choose one of them with "
                          "--attention=NAME: " +
                          listed(names));
  else
    diagnostics.error(file.blocks[0].name.range(),
                      "no attention block is called '" + name +
                          "'; the file has " + listed(names, " and ") +
                          didYouMean(name, names));
  return nullptr;
}

std::optional<Problem> attn::spec::parseSpec(StringRef fileName, StringRef text,
                                             llvm::SourceMgr &sources,
                                             const ParseOptions &options) {
  Diagnostics diagnostics(sources);
  std::unique_ptr<Program> program =
      loadProgram(fileName, text, options.readFile, diagnostics);
  if (!program)
    return std::nullopt;
  ast::File &file = program->main();
  checkBlockNames(file, diagnostics);
  NameChecker names(*program, diagnostics);
  names.checkFiles();
  ast::Block *block = selectBlock(file, options.attentionName, diagnostics);
  if (!block)
    return std::nullopt;
  names.checkBlock(*block);
  Problem problem = BlockChecker(file, *block, diagnostics).check();
  if (diagnostics.errorCount() != 0)
    return std::nullopt;
  return problem;
}

std::optional<std::vector<BlockName>>
attn::spec::listAttentions(StringRef fileName, StringRef text,
                           llvm::SourceMgr &sources) {
  Diagnostics diagnostics(sources);
  std::unique_ptr<ast::File> file =
      loadFile(fileName, text, llvm::SMLoc(), diagnostics);
  if (!file)
    return std::nullopt;
  std::vector<BlockName> names;
  for (const ast::Block &block : file->blocks) {
    auto [line, column] = sources.getLineAndColumn(block.name.range().Start);
    names.push_back({block.name.name.str(), line, column});
  }
  return names;
}

const ShippedSpec *attn::spec::findShippedSpec(StringRef name) {
  for (const ShippedSpec &spec : shippedSpecs())
    if (spec.name == name)
      return &spec;
  return nullptr;
}

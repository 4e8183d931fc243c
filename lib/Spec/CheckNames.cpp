//===- CheckNames.cpp - What every name stands for ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckNames.h"

#include "llvm/ADT/DenseMap.h"

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::ast;
using llvm::StringRef;

bool attn::spec::ruleSees(const Rule &rule, IndexVar index) {
  if (rule.hasList)
    return llvm::any_of(rule.list, [&](const Ident &ident) {
      return findIndex(ident.name) == index;
    });
  return rule.keyword.name != "sink" || index == IndexVar::B ||
         index == IndexVar::H || index == IndexVar::G;
}

StringRef attn::spec::logitName(const Rule &rule) {
  if (rule.keyword.name != "score")
    return "";
  if (!rule.hasList)
    return defaultLogit;
  return rule.list.empty() ? StringRef() : rule.list.front().name;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// S6.
bool NameChecker::checkReserved(const Ident &ident, StringRef what) {
  std::optional<StringRef> reserved = reservedAs(ident.name);
  if (reserved)
    diagnostics.error(ident.range(), "'" + ident.name + "' is " + *reserved +
                                         " and cannot name " + what);
  return !reserved;
}

void NameChecker::declareInFile(const File &file, Def &def) {
  if (!checkReserved(def.name, "a def")) {
    def.broken = true;
    return;
  }
  auto [entry, isNew] = fileNames.try_emplace(def.name.name);
  if (!isNew) {
    diagnostics.error(def.name.range(),
                      "def '" + def.name.name + "' is already defined" +
                          (entry->second.file == &file
                               ? std::string()
                               : " in '" + entry->second.file->name + "'"));
    diagnostics.note(entry->second.ident.range(), "first defined here");
    def.broken = true;
    return;
  }
  Declared &declared = entry->second;
  declared.ident = def.name;
  declared.what = "a def";
  declared.ref.kind = Ref::Def;
  declared.ref.def = &def;
  declared.file = &file;
  declared.def = &def;
}

/// S7: one meaning per name.
void NameChecker::declareInBlock(const Ident &ident, StringRef what, Ref ref,
                                 Def *def) {
  if (!checkReserved(ident, what)) {
    if (def)
      def->broken = true;
    return;
  }
  const Declared *other = find(ident.name, {&program.main(), true});
  if (!other) {
    Declared &declared = blockNames[ident.name];
    declared.ident = ident;
    declared.what = what;
    declared.ref = ref;
    declared.def = def;
    return;
  }
  diagnostics.error(ident.range(), "'" + ident.name + "' is already " +
                                       other->what +
                                       "; a name has one meaning "
                                       "in a block");
  diagnostics.note(other->ident.range(),
                   "'" + ident.name + "' is " + other->what + " here");
  if (def)
    def->broken = true;
}

const NameChecker::Declared *NameChecker::find(StringRef name,
                                               const Scope &scope) const {
  if (scope.inBlock)
    if (auto at = blockNames.find(name); at != blockNames.end())
      return &at->second;
  auto at = fileNames.find(name);
  if (at == fileNames.end() || !scope.file->visible.contains(at->second.file))
    return nullptr;
  return &at->second;
}

void NameChecker::checkFiles() {
  // A file sees those it imports, which stand before it.
  for (const std::unique_ptr<File> &file : program.files)
    for (const std::unique_ptr<Def> &def : file->defs)
      declareInFile(*file, *def);
  for (const std::unique_ptr<File> &file : program.files) {
    for (const std::unique_ptr<Def> &def : file->defs)
      checkDef(*def, {file.get(), false, def.get()});
    checkRecursion(file->defs);
  }
}

void NameChecker::checkBlock(Block &block) {
  blockNames.clear();
  for (const ParamDecl &param : block.params) {
    Ref ref;
    ref.kind = Ref::Param;
    ref.param = &param;
    declareInBlock(param.name, "a param", ref);
  }
  for (const TensorDecl &tensor : block.tensors) {
    Ref ref;
    ref.kind = Ref::Tensor;
    ref.tensor = &tensor;
    declareInBlock(tensor.name, "a tensor", ref);
  }
  for (const std::unique_ptr<Def> &def : block.defs) {
    Ref ref;
    ref.kind = Ref::Def;
    ref.def = def.get();
    declareInBlock(def->name, "a def", ref, def.get());
  }
  for (const std::unique_ptr<Def> &def : block.defs)
    checkDef(*def, {&program.main(), true, def.get()});
  checkRecursion(block.defs);
  for (Rule &rule : block.rules) {
    checkRuleList(rule);
    resolve(*rule.body, {&program.main(), true, nullptr, &rule});
  }
}

void NameChecker::checkDef(Def &def, const Scope &scope) {
  unsigned before = diagnostics.errorCount();
  llvm::StringMap<Ident> seen;
  for (const Ident &param : def.params) {
    if (!findIndex(param.name) &&
        !checkReserved(param, "an argument; only index variables can"))
      continue;
    auto [first, isNew] = seen.try_emplace(param.name, param);
    const Declared *outer = find(param.name, scope);
    if (!isNew) {
      diagnostics.error(param.range(),
                        "argument '" + param.name + "' is given twice");
      diagnostics.note(first->second.range(), "first given here");
    } else if (outer) {
      diagnostics.error(param.range(), "argument '" + param.name + "' hides " +
                                           outer->what +
                                           " of that name; rename it");
      diagnostics.note(outer->ident.range(),
                       "'" + param.name + "' is " + outer->what + " here");
    }
  }
  resolve(*def.body, scope);
  def.broken |= diagnostics.errorCount() != before;
}

/// The name a score gives the logit is free.
void NameChecker::checkLogit(const Rule &rule) {
  StringRef logit = logitName(rule);
  if (logit.empty()) {
    diagnostics.error(rule.keyword.range(),
                      "a score's list starts with a name for the logit; write "
                      "'score (s) = ...'");
    return;
  }
  Ident ident = rule.hasList ? rule.list.front() : rule.keyword;
  if (findIndex(logit)) {
    diagnostics.error(ident.range(),
                      "the first entry of a score's list names the logit, and "
                      "'" +
                          logit +
                          "' is an index variable; write 'score (s, ...'");
    return;
  }
  if (rule.hasList && !checkReserved(ident, "the logit"))
    return;
  const Declared *outer = find(logit, {&program.main(), true});
  if (!outer)
    return;
  diagnostics.error(ident.range(),
                    rule.hasList ? "the logit '" + logit + "' hides " +
                                       outer->what + " of that name; rename it"
                                 : "a score without a list calls the logit '" +
                                       logit + "', which is " + outer->what +
                                       "; write 'score (NAME, ...) = ...'");
  diagnostics.note(outer->ident.range(),
                   "'" + logit + "' is " + outer->what + " here");
}

/// S10: index variables, each once, after the logit of a score.
void NameChecker::checkRuleList(const Rule &rule) {
  llvm::ArrayRef<Ident> list = rule.list;
  StringRef keyword = rule.keyword.name;
  if (keyword == "score") {
    checkLogit(rule);
    list = list.drop_front(std::min<size_t>(1, list.size()));
  }
  llvm::StringMap<Ident> seen;
  for (const Ident &ident : list) {
    auto [first, isNew] = seen.try_emplace(ident.name, ident);
    std::optional<IndexVar> index = findIndex(ident.name);
    if (!isNew) {
      diagnostics.error(ident.range(), "'" + ident.name + "' is listed twice");
      diagnostics.note(first->second.range(), "first listed here");
    } else if (!index) {
      diagnostics.error(ident.range(), "expected an index variable (" +
                                           listed(indexNames()) + "), found '" +
                                           ident.name + "'");
    } else if (keyword == "sink" && *index != IndexVar::B &&
               *index != IndexVar::H && *index != IndexVar::G) {
      diagnostics.error(ident.range(), "a sink depends on b, h and g only, not "
                                       "on '" +
                                           ident.name + "'");
    }
  }
}

//===----------------------------------------------------------------------===//
// Recursion
//===----------------------------------------------------------------------===//

/// S8, depth first with an explicit stack: a long chain of defs is legal here.
void NameChecker::checkRecursion(llvm::ArrayRef<std::unique_ptr<Def>> defs) {
  enum class State { New, Open, Done };
  llvm::DenseMap<const Def *, State> states;
  for (const std::unique_ptr<Def> &root : defs) {
    llvm::SmallVector<Def *> path;
    llvm::SmallVector<size_t> nextCallee;
    auto enter = [&](Def *def) {
      states[def] = State::Open;
      path.push_back(def);
      nextCallee.push_back(0);
    };
    if (states.lookup(root.get()) == State::New)
      enter(root.get());
    while (!path.empty()) {
      Def *def = path.back();
      if (nextCallee.back() == def->callees.size()) {
        states[def] = State::Done;
        path.pop_back();
        nextCallee.pop_back();
        continue;
      }
      auto [callee, call] = def->callees[nextCallee.back()++];
      State state = states.lookup(callee);
      if (state == State::New)
        enter(callee);
      else if (state == State::Open)
        reportCycle(path, callee, *call);
    }
  }
}

void NameChecker::reportCycle(llvm::ArrayRef<Def *> path, const Def *to,
                              const Node &call) {
  path = path.drop_while([&](const Def *def) { return def != to; });
  std::string chain;
  for (Def *def : path) {
    chain += (def->name.name + " -> ").str();
    def->broken = true;
  }
  diagnostics.error(call.range, "defs are inlined and cannot be recursive: " +
                                    chain + to->name.name);
}

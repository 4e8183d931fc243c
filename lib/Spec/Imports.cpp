//===- Imports.cpp - Loading a file and what it imports -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Imports.h"
#include "Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace attn::spec;
using llvm::StringRef;
namespace path = llvm::sys::path;

std::unique_ptr<ast::File> attn::spec::loadFile(StringRef fileName,
                                                StringRef text,
                                                llvm::SMLoc importedAt,
                                                Diagnostics &diagnostics) {
  llvm::SourceMgr &sources = diagnostics.sourceMgr();
  unsigned buffer = sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, fileName), importedAt);
  auto file = std::make_unique<ast::File>();
  file->name = fileName.str();
  file->text = sources.getMemoryBuffer(buffer)->getBuffer();
  if (!Parser(file->text, diagnostics).parse(*file))
    return nullptr;
  return file;
}

namespace {

std::optional<std::string> readFromDisk(StringRef fileName) {
  auto buffer = llvm::MemoryBuffer::getFile(fileName, /*IsText=*/true);
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().str();
}

/// How a file is told from others and shown in messages: its path without `.`
/// and `..`, or `<name>` of a shipped one.
bool isShipped(StringRef key) { return key.starts_with("<"); }

class Loader {
public:
  Loader(const FileReader &readFile, Diagnostics &diagnostics)
      : readFile(readFile ? readFile : readFromDisk), diagnostics(diagnostics) {
  }

  std::unique_ptr<Program> run(StringRef fileName, StringRef text) {
    llvm::SmallString<128> key(fileName);
    path::remove_dots(key, /*remove_dot_dot=*/true);
    load(key, fileName, text, llvm::SMLoc());
    return failed ? nullptr : std::move(program);
  }

private:
  void load(StringRef key, StringRef name, StringRef text,
            llvm::SMLoc importedAt);
  void importInto(ast::File &file, StringRef key, const ast::Import &import);
  bool locate(const ast::Import &import, StringRef importer, std::string &key,
              std::string &text);
  bool locateShipped(const ast::Import &import, std::string &key,
                     std::string &text);
  void refuse(const ast::Import &import, const llvm::Twine &message);

  FileReader readFile;
  Diagnostics &diagnostics;
  std::unique_ptr<Program> program = std::make_unique<Program>();
  /// By key; null after an error in the file.
  llvm::StringMap<ast::File *> loaded;
  /// Keys of the files whose imports are being loaded.
  std::vector<std::string> stack;
  bool failed = false;
};

} // namespace

void Loader::refuse(const ast::Import &import, const llvm::Twine &message) {
  diagnostics.error(import.range, message);
  failed = true;
}

void Loader::load(StringRef key, StringRef name, StringRef text,
                  llvm::SMLoc importedAt) {
  std::unique_ptr<ast::File> file =
      loadFile(name, text, importedAt, diagnostics);
  if (!file) {
    failed = true;
    loaded[key] = nullptr;
    return;
  }
  stack.push_back(key.str());
  file->visible.insert(file.get());
  for (const ast::Import &import : file->imports)
    importInto(*file, key, import);
  stack.pop_back();
  loaded[key] = file.get();
  program->files.push_back(std::move(file));
}

void Loader::importInto(ast::File &file, StringRef key,
                        const ast::Import &import) {
  auto first = llvm::find_if(file.imports, [&](const ast::Import &other) {
    return other.path == import.path;
  });
  if (&*first != &import) {
    refuse(import, "'" + import.path + "' is already imported");
    diagnostics.note(first->range, "first imported here");
    return;
  }
  std::string importedKey, text;
  if (!locate(import, key, importedKey, text))
    return;
  if (auto at = llvm::find(stack, importedKey); at != stack.end()) {
    std::string chain;
    for (; at != stack.end(); ++at)
      chain += *at + " -> ";
    return refuse(import, "import cycle: " + chain + importedKey);
  }
  if (!loaded.count(importedKey))
    load(importedKey, importedKey, text, import.range.Start);
  ast::File *imported = loaded[importedKey];
  if (!imported)
    return;
  if (imported->defs.empty() && imported->visible.size() == 1)
    return refuse(import, "'" + import.path +
                              "' has no defs, and only defs are imported");
  file.visible.insert(imported->visible.begin(), imported->visible.end());
}

/// The key and the text of an imported file; false: reported.
bool Loader::locate(const ast::Import &import, StringRef importer,
                    std::string &key, std::string &text) {
  bool isRelative =
      import.path.starts_with("./") || import.path.starts_with("../");
  if (!isRelative)
    return locateShipped(import, key, text);
  if (isShipped(importer)) {
    refuse(import, "a shipped file can import shipped files only");
    return false;
  }
  llvm::SmallString<128> file(path::parent_path(importer));
  path::append(file, import.path);
  path::remove_dots(file, /*remove_dot_dot=*/true);
  key = file.str().str();
  // Read once; a file whose imports are being loaded is a cycle.
  if (loaded.count(key) || llvm::is_contained(stack, key))
    return true;
  std::optional<std::string> contents = readFile(key);
  if (!contents) {
    refuse(import, "cannot read '" + key + "'");
    return false;
  }
  text = std::move(*contents);
  return true;
}

bool Loader::locateShipped(const ast::Import &import, std::string &key,
                           std::string &text) {
  if (const ShippedSpec *spec = findShippedSpec(import.path)) {
    key = ("<" + spec->name + ">").str();
    text = spec->text.str();
    return true;
  }
  if (import.path.contains('/') || import.path.contains('.')) {
    refuse(import, "expected the name of a shipped file, such as \"std\", or a "
                   "path that starts with './' or '../'");
    return false;
  }
  llvm::SmallVector<StringRef> names;
  for (const ShippedSpec &spec : shippedSpecs())
    names.push_back(spec.name);
  std::string mend = didYouMean(import.path, names);
  if (mend.empty())
    mend =
        ("; a file of your own is imported as \"./" + import.path + ".attn\"")
            .str();
  refuse(import, "no shipped file is called '" + import.path + "'" + mend);
  return false;
}

std::unique_ptr<Program> attn::spec::loadProgram(StringRef fileName,
                                                 StringRef text,
                                                 const FileReader &readFile,
                                                 Diagnostics &diagnostics) {
  return Loader(readFile, diagnostics).run(fileName, text);
}

//===- CommandLine.cpp - Options whose errors say what to write -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
namespace cl = llvm::cl;

/// Of the parse in progress: LLVM's parsers can only say that there is one.
static std::string &badValue() {
  static std::string message;
  return message;
}

static std::string spellName(llvm::StringRef name) {
  return (name.size() == 1 ? "-" : "--") + name.str();
}

bool attn::reportBadValue(const cl::Option &option, llvm::StringRef expected,
                          llvm::StringRef found) {
  if (badValue().empty())
    badValue() =
        (spellName(option.ArgStr) + "=" + found + ": expected " + expected +
         ", found " + (found.empty() ? "nothing" : "'" + found.str() + "'"))
            .str();
  return true;
}

bool FlagParser::parse(cl::Option &option, llvm::StringRef,
                       llvm::StringRef text, bool &value) {
  // Empty when the option stands alone.
  value = text != "false";
  if (text.empty() || text == "true" || text == "false")
    return false;
  return reportBadValue(option, "true, false or no value", text);
}

/// What LLVM says, in this project's form: "attn-opt: Unknown command line
/// argument '--bogus'.  Try: 'attn-opt --help'".
static std::string firstLine(llvm::StringRef text) {
  llvm::StringRef line = text.split('\n').first;
  size_t at = line.find(": ");
  if (at != llvm::StringRef::npos)
    line = line.substr(at + 2);
  return line.rtrim().str();
}

static std::optional<std::string>
findRepeated(const cl::OptionCategory &category) {
  for (auto &entry : cl::getRegisteredOptions()) {
    const cl::Option &option = *entry.second;
    bool isScalar = option.getNumOccurrencesFlag() == cl::Optional;
    if (isScalar && option.getNumOccurrences() > 1 &&
        llvm::is_contained(option.Categories, &category))
      return spellName(option.ArgStr) + ": expected once, found " +
             std::to_string(option.getNumOccurrences()) + " times";
  }
  return std::nullopt;
}

/// Only the last argument can lack its value: others take the next one.
static std::optional<std::string> findMissingValue(llvm::StringRef last) {
  llvm::StringRef name = last.ltrim('-');
  auto found = cl::getRegisteredOptions().find(name);
  if (name == last || found == cl::getRegisteredOptions().end() ||
      found->second->getValueExpectedFlag() != cl::ValueRequired)
    return std::nullopt;
  return last.str() + ": expected a value, found nothing";
}

std::optional<std::string>
attn::parseCommandLine(int argc, char **argv, llvm::StringRef overview,
                       const cl::OptionCategory &category) {
  if (std::optional<std::string> missing = findMissingValue(argv[argc - 1]))
    return missing;
  badValue().clear();
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  bool parsed = cl::ParseCommandLineOptions(argc, argv, overview, &stream);
  if (!badValue().empty())
    return badValue();
  if (!parsed)
    // Upstream's parsers print theirs, whatever stream is given.
    return errors.empty() ? "bad value of an option" : firstLine(errors);
  return findRepeated(category);
}

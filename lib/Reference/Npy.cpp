//===- Npy.cpp - NumPy .npy files -------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace fs = std::filesystem;

namespace attn {
namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr size_t magicBytes = 6;
/// Headers are padded so that the data starts at a multiple of this.
constexpr size_t dataAlignment = 64;
/// Far above any real header.
constexpr uint32_t maxHeaderBytes = 1u << 20;

struct TypeWord {
  const char *descr;
  NpyType type;
  int64_t bytes;
};
constexpr TypeWord typeWords[] = {
    {"<f2", NpyType::F16, 2},  {"<f4", NpyType::F32, 4},
    {"<f8", NpyType::F64, 8},  {"|i1", NpyType::I8, 1},
    {"|u1", NpyType::U8, 1},   {"<i4", NpyType::I32, 4},
    {"<i8", NpyType::I64, 8},  {"<u2", NpyType::U16, 2},
    {"|b1", NpyType::Bool, 1}, {"|V1", NpyType::Raw1, 1},
    {"<V1", NpyType::Raw1, 1}, {"|V2", NpyType::Raw2, 2},
    {"<V2", NpyType::Raw2, 2}};

[[noreturn]] void fail(const std::string &path, const std::string &what) {
  throw std::runtime_error(path + ": " + what);
}

/// Reads the header, a Python dict literal of strings, booleans and one tuple.
class HeaderParser {
public:
  HeaderParser(const std::string &path, const std::string &text)
      : path(path), text(text) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr")
        descr = string();
      else if (key == "fortran_order")
        fortranOrder = boolean();
      else if (key == "shape")
        shape = tuple();
      else
        malformed("unknown key '" + key + "'");
      seen += key == "descr" ? 1 : key == "shape" ? 2 : 4;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    constexpr int allKeys = 7;
    if (seen != allKeys)
      malformed("expected the keys descr, fortran_order and shape, each once");
  }

  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;

private:
  [[noreturn]] void malformed(const std::string &what) {
    fail(path, "malformed npy header: " + what);
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
  }
  bool accept(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      malformed(std::string("expected '") + c + "' at byte " +
                std::to_string(at));
  }
  std::string string() {
    char quote = accept('\'') ? '\'' : '"';
    if (quote == '"' && !accept('"')) {
      // A structured dtype is a list of fields.
      if (accept('['))
        fail(path, "expected one element type, found a structured dtype");
      malformed("expected a string at byte " + std::to_string(at));
    }
    size_t end = text.find(quote, at);
    if (end == std::string::npos)
      malformed("unterminated string");
    std::string value = text.substr(at, end - at);
    at = end + 1;
    return value;
  }
  bool boolean() {
    skipSpace();
    for (bool value : {true, false}) {
      const char *word = value ? "True" : "False";
      if (text.compare(at, std::strlen(word), word) == 0) {
        at += std::strlen(word);
        return value;
      }
    }
    malformed("expected True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(integer());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  int64_t integer() {
    skipSpace();
    size_t begin = at;
    int64_t value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text[at] - '0', &value))
        malformed("an extent does not fit 64 bits");
    if (at == begin)
      malformed("expected an extent at byte " + std::to_string(at));
    accept('L'); // Python 2 wrote long integers
    return value;
  }

  const std::string &path, &text;
  size_t at = 0;
  int seen = 0;
};

std::string readHeader(const std::string &path, std::istream &in) {
  unsigned char start[magicBytes + 2];
  in.read(reinterpret_cast<char *>(start), sizeof start);
  if (!in || std::memcmp(start, magic, magicBytes) != 0)
    fail(path, "not an npy file: expected it to start with \\x93NUMPY");
  int major = start[magicBytes];
  if (major < 1 || major > 3)
    fail(path, "expected npy format version 1, 2 or 3, found " +
                   std::to_string(major));
  unsigned char sizeBytes[4] = {};
  in.read(reinterpret_cast<char *>(sizeBytes), major == 1 ? 2 : 4);
  uint32_t size = 0;
  for (int byte = 3; byte >= 0; --byte)
    size = size << 8 | sizeBytes[byte];
  if (!in || size > maxHeaderBytes)
    fail(path, "malformed npy header: its size is " + std::to_string(size) +
                   " bytes");
  std::string header(size, '\0');
  in.read(header.data(), size);
  if (!in)
    fail(path, "the file ends inside its npy header");
  return header;
}

const TypeWord &findType(const std::string &path, const std::string &descr) {
  for (const TypeWord &word : typeWords)
    if (descr == word.descr)
      return word;
  if (!descr.empty() && descr[0] == '>')
    fail(path,
         "expected little-endian elements, found dtype '" + descr +
             "'; save it with array.astype(array.dtype.newbyteorder('<'))");
  fail(path, "expected dtype <f2, <f4, <f8, |i1, |u1, <i4, <i8, <u2, |b1, |V2 "
             "(bfloat16) or |V1 (8-bit float), found '" +
                 descr + "'");
}

} // namespace

std::string spellShape(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t dim = 0; dim < shape.size(); ++dim)
    text += (dim ? ", " : "") + std::to_string(shape[dim]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

NpyArray readNpy(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    fail(path, "expected a file, found a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail(path, "cannot open the file: " + std::string(std::strerror(errno)));
  std::string header = readHeader(path, in);
  HeaderParser parser(path, header);
  parser.parse();
  const TypeWord &type = findType(path, parser.descr);
  auto longDims = std::count_if(parser.shape.begin(), parser.shape.end(),
                                [](int64_t dim) { return dim > 1; });
  if (parser.fortranOrder && longDims > 1)
    fail(path, "expected row-major (C) order, found Fortran order; save it "
               "with numpy.ascontiguousarray");

  int64_t bytes = type.bytes;
  for (int64_t dim : parser.shape)
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      fail(path, "the shape " + spellShape(parser.shape) +
                     " does not fit 64-bit sizes");
  std::streamoff dataStart = in.tellg();
  in.seekg(0, std::ios::end);
  std::streamoff found = in.tellg() - dataStart;
  if (found != bytes)
    fail(path, "expected " + std::to_string(bytes) + " bytes of data for " +
                   parser.descr + " of shape " + spellShape(parser.shape) +
                   ", found " + std::to_string(found));
  in.seekg(dataStart);
  NpyArray array{path, type.type, parser.descr, parser.shape, {}};
  array.bytes.resize(size_t(bytes));
  in.read(reinterpret_cast<char *>(array.bytes.data()), bytes);
  if (!in)
    fail(path, "cannot read the data: " + std::string(std::strerror(errno)));
  return array;
}

void writeNpy(const std::string &path, const std::vector<int64_t> &shape,
              const float *values) {
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': " + spellShape(shape) +
      ", }";
  constexpr size_t fixedBytes = magicBytes + 4; // version, header size
  size_t unpadded = fixedBytes + header.size() + 1;
  header.append((dataAlignment - unpadded % dataAlignment) % dataAlignment,
                ' ');
  header += '\n';
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;

  // A file appears whole or not at all. A device or a pipe is written as it
  // is: renaming over /dev/null would replace it. A link keeps pointing.
  std::error_code ignored;
  bool exists = fs::exists(path, ignored);
  bool inPlace = exists && !fs::is_regular_file(path, ignored);
  std::string target =
      exists && !inPlace ? fs::canonical(path, ignored).string() : path;
  std::string written = inPlace ? path : target + ".part";
  auto giveUp = [&] {
    std::string reason = std::strerror(errno);
    if (!inPlace)
      std::remove(written.c_str());
    fail(path, "cannot write the file: " + reason);
  };
  std::ofstream out(written, std::ios::binary | std::ios::trunc);
  out.write(magic, magicBytes);
  const char versionAndSize[] = {1, 0, char(header.size() & 0xff),
                                 char(header.size() >> 8)};
  out.write(versionAndSize, sizeof versionAndSize);
  out.write(header.data(), std::streamsize(header.size()));
  out.write(reinterpret_cast<const char *>(values),
            count * std::streamsize(sizeof(float)));
  out.close();
  if (!out || (!inPlace && std::rename(written.c_str(), target.c_str()) != 0))
    giveUp();
}

} // namespace attn

//===- NpyTest.cpp - NumPy files --------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Npy.h"
#include "attn/Reference/Numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace attn;

namespace {

/// A file that is gone with the test.
class TemporaryFile {
public:
  TemporaryFile()
      : path(testing::TempDir() + "attn_" +
             testing::UnitTest::GetInstance()->current_test_info()->name() +
             ".npy") {}
  ~TemporaryFile() { std::remove(path.c_str()); }
  void write(const std::string &bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::string path;
};

std::string header(const std::string &dict, int major = 1) {
  std::string padded = dict + "\n";
  std::string out = "\x93NUMPY";
  out += char(major);
  out += '\0';
  size_t sizeBytes = major == 1 ? 2 : 4;
  for (size_t byte = 0; byte < sizeBytes; ++byte)
    out += char(padded.size() >> (8 * byte));
  return out + padded;
}

std::string dict(const std::string &descr, const std::string &shape,
                 const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }";
}

std::string bytesOf(const void *data, size_t size) {
  return {static_cast<const char *>(data), size};
}

template <typename Function>
void expectError(Function function, const std::string &message) {
  try {
    function();
    FAIL() << "expected: " << message;
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos)
        << error.what();
  }
}

TEST(Npy, WrittenFilesReadBack) {
  TemporaryFile file;
  const float values[] = {1, 2.5, -3, 4, 5, 6};
  writeNpy(file.path, {2, 3}, values);
  NpyArray array = readNpy(file.path);
  EXPECT_EQ(array.type, NpyType::F32);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(array.bytes.data(), values, sizeof values), 0);
  // The data of a file starts at a multiple of 64 bytes.
  std::ifstream in(file.path, std::ios::binary | std::ios::ate);
  EXPECT_EQ((int64_t(in.tellg()) - int64_t(sizeof values)) % 64, 0);
  writeNpy(file.path, {0, 4}, values);
  EXPECT_EQ(readNpy(file.path).shape, (std::vector<int64_t>{0, 4}));
  writeNpy(file.path, {6}, values);
  EXPECT_EQ(readNpy(file.path).shape, (std::vector<int64_t>{6}));
  writeNpy(file.path, {}, values);
  EXPECT_EQ(readNpy(file.path).bytes.size(), 4u);
}

TEST(Npy, EveryFormatVersion) {
  TemporaryFile file;
  const int32_t values[] = {7, 8};
  for (int major : {1, 2, 3}) {
    file.write(header(dict("<i4", "(2,)"), major) + bytesOf(values, 8));
    EXPECT_EQ(readNpy(file.path).type, NpyType::I32);
  }
  file.write(header(dict("<i4", "(2,)"), 4) + bytesOf(values, 8));
  expectError([&] { readNpy(file.path); },
              "expected npy format version 1, 2 or 3, found 4");
}

TEST(Npy, BitsOfNarrowFloats) {
  TemporaryFile file;
  const uint16_t bf16[] = {0x3f80, 0xc000}; // 1, -2
  for (const char *descr : {"<V2", "|V2", "<u2"}) {
    file.write(header(dict(descr, "(2,)")) + bytesOf(bf16, 4));
    NpyConversion converted = convertNpy(readNpy(file.path), DType::BF16, {2});
    EXPECT_EQ(converted.note, "");
    EXPECT_EQ(loadElement(DType::BF16, converted.bytes.data(), 1), -2);
  }
  const uint8_t e4m3[] = {0x38, 0xc0}; // 1, -2
  for (const char *descr : {"|u1", "|V1"}) {
    file.write(header(dict(descr, "(2,)")) + bytesOf(e4m3, 2));
    NpyConversion converted = convertNpy(readNpy(file.path), DType::E4M3, {2});
    EXPECT_EQ(converted.note, "");
    EXPECT_EQ(loadElement(DType::E4M3, converted.bytes.data(), 1), -2);
  }
}

TEST(Npy, WideFloatsAreRoundedWithANote) {
  TemporaryFile file;
  const double values[] = {1 + 0x1p-8 + 0x1p-40, -0.5};
  file.write(header(dict("<f8", "(1, 2)")) + bytesOf(values, 16));
  NpyConversion converted = convertNpy(readNpy(file.path), DType::BF16, {1, 2});
  EXPECT_EQ(converted.note, file.path + ": rounded from <f8 to bf16");
  EXPECT_EQ(loadElement(DType::BF16, converted.bytes.data(), 0), 1 + 0x1p-7);
  const float single[] = {0.1f};
  file.write(header(dict("<f4", "(1,)")) + bytesOf(single, 4));
  converted = convertNpy(readNpy(file.path), DType::F16, {1});
  EXPECT_EQ(loadElement(DType::F16, converted.bytes.data(), 0),
            roundTo(DType::F16, double(0.1f)));
}

TEST(Npy, FloatsMustFit) {
  TemporaryFile file;
  double values[] = {-INFINITY, 65519, -65520};
  file.write(header(dict("<f8", "(3,)")) + bytesOf(values, 24));
  convertNpy(readNpy(file.path), DType::F32, {3});
  expectError([&] { convertNpy(readNpy(file.path), DType::F16, {3}); },
              "-65520 at (2,) is beyond the largest f16, 65504");
  // The largest e4m3 is 448; half a step beyond it does not round to it.
  values[1] = 463;
  values[2] = 464;
  file.write(header(dict("<f8", "(3,)")) + bytesOf(values, 24));
  expectError([&] { convertNpy(readNpy(file.path), DType::E4M3, {3}); },
              "464 at (2,) is beyond the largest e4m3, 448");
}

TEST(Npy, IntegersMustFit) {
  TemporaryFile file;
  int64_t values[] = {3, -4};
  file.write(header(dict("<i8", "(2,)")) + bytesOf(values, 16));
  NpyConversion converted = convertNpy(readNpy(file.path), DType::I32, {2});
  EXPECT_EQ(loadInt(DType::I32, converted.bytes.data(), 1), -4);
  EXPECT_EQ(converted.note, file.path + ": converted from <i8 to i32");
  expectError([&] { convertNpy(readNpy(file.path), DType::U8, {2}); },
              "-4 at (1,) does not fit u8");
  values[1] = int64_t(1) << 40;
  file.write(header(dict("<i8", "(2,)")) + bytesOf(values, 16));
  expectError([&] { convertNpy(readNpy(file.path), DType::I32, {2}); },
              "1099511627776 at (1,) does not fit i32");
}

TEST(Npy, WrongTypeAndShapeAreBothPrinted) {
  TemporaryFile file;
  const float values[6] = {};
  writeNpy(file.path, {2, 3}, values);
  NpyArray array = readNpy(file.path);
  expectError([&] { convertNpy(array, DType::F32, {3, 2}, "[heads, k_len]"); },
              file.path +
                  ": expected shape (3, 2) [heads, k_len], found (2, 3)");
  expectError([&] { convertNpy(array, DType::I32, {2, 3}); },
              "expected dtype i32 (any integer or bool dtype), found '<f4'");
  file.write(header(dict("<i4", "(1,)")) + bytesOf(values, 4));
  expectError([&] { convertNpy(readNpy(file.path), DType::BF16, {1}); },
              "expected dtype bf16 ('|V2' or '<u2'), '<f4', '<f8' or '<f2', "
              "found '<i4'");
}

TEST(Npy, MalformedFiles) {
  TemporaryFile file;
  auto expect = [&](const std::string &bytes, const std::string &message) {
    file.write(bytes);
    expectError([&] { readNpy(file.path); }, file.path + ": " + message);
  };
  const float values[6] = {};
  std::string data = bytesOf(values, 24);
  expect("", "not an npy file");
  expect("PK\3\4 a zip archive", "not an npy file");
  expect(header(dict("<f4", "(2, 3)")).substr(0, 20),
         "the file ends inside its npy header");
  expect(header(dict("<f4", "(2, 3)")) + data.substr(4),
         "expected 24 bytes of data for <f4 of shape (2, 3), found 20");
  expect(header(dict("<f4", "(2, 3)")) + data + "x",
         "expected 24 bytes of data for <f4 of shape (2, 3), found 25");
  expect(header(dict(">f4", "(2, 3)")) + data,
         "expected little-endian elements, found dtype '>f4'");
  expect(header(dict("<c8", "(3,)")) + data, "expected dtype <f2");
  expect(header(dict("<f4", "(2, 3)", "True")) + data,
         "expected row-major (C) order, found Fortran order");
  expect(header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': "
                "(6,)}") +
             data,
         "expected one element type, found a structured dtype");
  expect(header("{'descr': '<f4', 'shape': (6,)}") + data,
         "malformed npy header: expected the keys");
  expect(header(dict("<f4", "(-6,)")) + data, "malformed npy header");
  expect(header(dict("<f4", "(99999999999999999999,)")) + data,
         "malformed npy header: an extent does not fit");
  expect(header(dict("<f4", "(4611686018427387904, 4)")) + data,
         "the shape (4611686018427387904, 4) does not fit");
  expect(header("{'descr': '<f4"), "malformed npy header: unterminated string");
}

TEST(Npy, FortranOrderOfOneDimensionIsRowMajorToo) {
  TemporaryFile file;
  const float values[3] = {1, 2, 3};
  file.write(header(dict("<f4", "(1, 3)", "True")) + bytesOf(values, 12));
  EXPECT_EQ(readNpy(file.path).shape, (std::vector<int64_t>{1, 3}));
}

TEST(Npy, MissingFileAndFolder) {
  expectError([] { readNpy("no/such/file.npy"); },
              "no/such/file.npy: cannot open the file: No such file");
  const float value = 1;
  expectError([&] { writeNpy("no/such/file.npy", {1}, &value); },
              "no/such/file.npy: cannot write the file");
}

TEST(Npy, WritesThroughALinkAndIntoADevice) {
  namespace fs = std::filesystem;
  TemporaryFile file;
  const float values[] = {1, 2};
  std::string link = file.path + ".link";
  file.write("old");
  fs::remove(link);
  fs::create_symlink(file.path, link);
  writeNpy(link, {2}, values);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(readNpy(file.path).shape, (std::vector<int64_t>{2}));
  fs::remove(link);
  // A device is not replaced, and what it says is heard.
  writeNpy("/dev/null", {2}, values);
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
  if (fs::exists("/dev/full"))
    expectError([&] { writeNpy("/dev/full", {2}, values); },
                "/dev/full: cannot write the file: No space left");
}

} // namespace

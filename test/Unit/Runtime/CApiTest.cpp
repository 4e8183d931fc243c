//===- CApiTest.cpp - libattn_runtime through its C interface -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"
#include "attn/Runtime/attn_runtime.h"

#include <cstdio>
#include <thread>

using namespace attn;
using namespace attn::test;

namespace {

/// A parsed package that is freed at the end of the test.
struct Handle {
  attn_package *package = nullptr;
  Handle() {
    std::string text = toJson(smallPackage());
    EXPECT_EQ(attn_package_parse(text.data(), int64_t(text.size()), &package),
              ATTN_OK)
        << attn_last_error();
  }
  ~Handle() { attn_package_free(package); }
};

attn_launch_args cArguments() {
  attn_launch_args args = {};
  args.struct_bytes = sizeof(args);
  args.batch = 1;
  args.q_len = args.k_len = 16;
  return args;
}

TEST(CApi, LoadErrors) {
  attn_package *package = reinterpret_cast<attn_package *>(1);
  EXPECT_EQ(attn_package_load("/no/such/file", &package), ATTN_ERROR_INPUT);
  EXPECT_EQ(package, nullptr);
  EXPECT_STREQ(attn_last_error(), "/no/such/file: cannot read the file");
  EXPECT_EQ(attn_package_load(nullptr, &package), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "path: null pointer");
  EXPECT_EQ(attn_package_load("x", nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "package: null pointer");
  EXPECT_EQ(attn_package_parse("{}", 2, &package), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(),
               "not an attn package: the field 'attn_package' is missing");
  EXPECT_EQ(attn_package_parse("{}", -2, &package), ATTN_ERROR_INPUT);
}

TEST(CApi, LoadsAFile) {
  std::string path = ::testing::TempDir() + "attn_capi_test.attnpkg";
  std::string text = toJson(smallPackage());
  FILE *file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  attn_package *package = nullptr;
  EXPECT_EQ(attn_package_load(path.c_str(), &package), ATTN_OK);
  EXPECT_STREQ(attn_last_error(), "");
  EXPECT_NE(package, nullptr);
  attn_package_free(package);
  std::remove(path.c_str());
}

TEST(CApi, ArgumentsAreCheckedBeforeTheDriver) {
  Handle handle;
  attn_launch_args args = cArguments();
  args.struct_bytes = 8;
  EXPECT_EQ(attn_launch(handle.package, &args, nullptr), ATTN_ERROR_INPUT);
  EXPECT_EQ(std::string(attn_last_error()),
            "struct_bytes = 8: this library expects " +
                std::to_string(sizeof(args)) + " (header and library differ)");
  EXPECT_EQ(attn_launch(handle.package, nullptr, nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "args: null pointer");
  args = cArguments();
  EXPECT_EQ(attn_launch(nullptr, &args, nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "package: null pointer");
  args.param_count = 1;
  EXPECT_EQ(attn_launch(handle.package, &args, nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "param_count = 1: expected 0 or more entries "
                                  "and an array for them");
  attn_param unnamed = {};
  args.params = &unnamed;
  EXPECT_EQ(attn_launch(handle.package, &args, nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "name of a param: null pointer");
  int64_t bytes = 0;
  args = cArguments();
  EXPECT_EQ(attn_query_workspace(handle.package, &args, nullptr),
            ATTN_ERROR_INPUT);
  args.tensor_count = -1;
  EXPECT_EQ(attn_query_workspace(handle.package, &args, &bytes),
            ATTN_ERROR_INPUT);
  EXPECT_EQ(attn_explain(handle.package, &args, nullptr, 0), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "bytes = 0: expected 1 or more");
}

TEST(CApi, ErrorsBelongToTheirThread) {
  attn_package *package = nullptr;
  EXPECT_EQ(attn_package_load("/no/such/file", &package), ATTN_ERROR_INPUT);
  std::string seen = "unset";
  std::thread([&] { seen = attn_last_error(); }).join();
  EXPECT_EQ(seen, "");
  EXPECT_STREQ(attn_last_error(), "/no/such/file: cannot read the file");
}

TEST(CApi, FreeOfNull) { attn_package_free(nullptr); }

} // namespace

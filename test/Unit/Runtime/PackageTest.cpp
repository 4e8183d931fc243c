//===- PackageTest.cpp - Reading and writing packages ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListPackage.h"
#include "PtxEntry.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

using namespace attn;
using namespace attn::test;
using nlohmann::json;

namespace {

Package fullPackage() {
  Package package = smallPackage();
  package.kernels.push_back(smallKernel("fwd_short"));
  Kernel &kernel = package.kernels.back();
  kernel.target = "sm_90a";
  kernel.workspaceBytesPerItem = 48;
  kernel.guards = {
      {{"q_len", 0, 0}, GuardOp::Lt, {"", 64, 0}},
      {{"k_stride_s", 0, 8}, GuardOp::Eq, {"", 0, 0}},
      {{"q_align", 0, 0}, GuardOp::Ge, {"", 128, 0}},
  };
  kernel.grid = GridKind::Resident;
  kernel.blocksPerMultiprocessor = 2;
  kernel.arguments.push_back(
      {"k_map", ArgumentType::TensorMap, {128, 64, 128}});
  kernel.ptx = emptyPtx(kernel.name, kernel.arguments);
  package.chooser = {"fwd_short", "fwd"};
  return package;
}

/// The message for a package whose JSON was changed by `edit`.
std::string messageAfter(const std::function<void(json &)> &edit) {
  json root = json::parse(toJson(fullPackage()));
  edit(root);
  return messageOf<PackageError>([&] { packageFromJson(root.dump()); });
}

TEST(Package, RoundTrip) {
  Package package = fullPackage();
  std::string text = toJson(package);
  Package read = packageFromJson(text);
  EXPECT_EQ(toJson(read), text);
  ASSERT_EQ(read.kernels.size(), 2u);
  const Kernel &kernel = read.kernels[1];
  EXPECT_EQ(kernel.name, "fwd_short");
  EXPECT_EQ(kernel.target, "sm_90a");
  EXPECT_EQ(kernel.ptx, package.kernels[1].ptx);
  EXPECT_EQ(kernel.sharedBytes, 65536);
  EXPECT_EQ(kernel.workspaceBytesPerItem, 48);
  ASSERT_EQ(kernel.workItems.size(), 3u);
  EXPECT_EQ(kernel.workItems[2].extent, "q_len");
  EXPECT_EQ(kernel.workItems[2].divisor, 128);
  ASSERT_EQ(kernel.guards.size(), 3u);
  EXPECT_EQ(toString(kernel.guards[1]), "k_stride_s % 8 == 0");
  EXPECT_EQ(toString(kernel.guards[2]), "q_align >= 128");
  EXPECT_EQ(kernel.grid, GridKind::Resident);
  EXPECT_EQ(kernel.blocksPerMultiprocessor, 2);
  EXPECT_EQ(read.kernels[0].grid, GridKind::PerItem);
  const KernelArgument &map = kernel.arguments.back();
  EXPECT_EQ(map.name, "k_map");
  EXPECT_EQ(map.type, ArgumentType::TensorMap);
  EXPECT_EQ(map.box.rows, 128);
  EXPECT_EQ(map.box.columns, 64);
  EXPECT_EQ(map.box.swizzleBytes, 128);
  EXPECT_EQ(read.chooser, package.chooser);
  EXPECT_EQ(read.problem.tensors[0].name, "bias");
}

TEST(Package, ManifestSpelling) {
  json kernel = json::parse(toJson(fullPackage()))["kernels"][1];
  EXPECT_EQ(kernel["work_items"],
            json::parse(R"(["batch", "heads", {"ceildiv": ["q_len", 128]}])"));
  EXPECT_EQ(kernel["arguments"][0],
            json::parse(R"({"name":"q","type":"ptr"})"));
  EXPECT_EQ(kernel["arguments"].back(),
            json::parse(R"({"name":"k_map","type":"tensor_map","box_rows":128,
                            "box_columns":64,"swizzle":128})"));
  EXPECT_EQ(kernel["grid"], "resident");
  EXPECT_EQ(kernel["blocks_per_sm"], 2);
  EXPECT_EQ(
      kernel["guards"][1],
      json::parse(R"({"lhs":{"mod":["k_stride_s",8]},"op":"==","rhs":0})"));
}

TEST(Package, NotAPackage) {
  EXPECT_EQ(messageOf<PackageError>([] { packageFromJson("attention x {}"); }),
            "not an attn package: the text is not JSON");
  EXPECT_EQ(messageOf<PackageError>([] { packageFromJson("{}"); }),
            "not an attn package: the field 'attn_package' is missing");
  EXPECT_EQ(messageOf<PackageError>([] { packageFromJson("[1]"); }),
            "not an attn package: the field 'attn_package' is missing");
}

TEST(Package, OtherVersion) {
  const std::string mend =
      ": expected format 2; write the package again with this build's attn-opt "
      "(attn-opt SPEC --emit=package)";
  EXPECT_EQ(messageAfter([](json &root) { root["attn_package"] = 1; }),
            "package format 1 (written by attn test)" + mend);
  EXPECT_EQ(messageAfter([](json &root) { root["attn_package"] = "2"; }),
            "package format \"2\" (written by attn test)" + mend);
  // Nothing else of another format is looked at.
  EXPECT_EQ(messageOf<PackageError>(
                [] { packageFromJson(R"({"attn_package": 3})"); }),
            "package format 3" + mend);
}

TEST(Package, EveryMandatoryFieldIsMissed) {
  for (const char *field : {"compiler", "problem", "kernels"})
    EXPECT_EQ(messageAfter([&](json &root) { root.erase(field); }),
              std::string("malformed package: package: the field '") + field +
                  "' is missing");
  for (const char *field :
       {"name", "target", "ptx", "block", "shared_bytes", "arguments",
        "work_items", "tile_m", "tile_n", "schedule"})
    EXPECT_EQ(
        messageAfter([&](json &root) { root["kernels"][1].erase(field); }),
        std::string("malformed package: kernels[1]: the field '") + field +
            "' is missing");
}

TEST(Package, MalformedFields) {
  auto kernel = [](const std::function<void(json &)> &edit) {
    return messageAfter([&](json &root) { edit(root["kernels"][0]); });
  };
  EXPECT_EQ(kernel([](json &k) { k["block"] = 2048; }),
            "malformed package: kernels[0].block: expected 1 .. 1024, found "
            "2048");
  EXPECT_EQ(kernel([](json &k) { k["block"] = 1.5; }),
            "malformed package: kernels[0].block: expected an integer, found "
            "number");
  EXPECT_EQ(kernel([](json &k) { k["shared_bytes"] = UINT64_MAX; }),
            "malformed package: kernels[0].shared_bytes: expected 0 .. "
            "1073741824, found 18446744073709551615");
  EXPECT_EQ(kernel([](json &k) { k["target"] = "sm90"; }),
            "malformed package: kernels[0].target: expected sm_NN, sm_NNa or "
            "sm_NNf, found 'sm90'");
  EXPECT_EQ(kernel([](json &k) { k["ptx"] = 1; }),
            "malformed package: kernels[0].ptx: expected a string, found "
            "number");
  EXPECT_EQ(kernel([](json &k) { k["work_items"][0] = "q_heads"; }),
            "malformed package: kernels[0].work_items[0]: expected batch, "
            "heads, kv_heads, q_len, k_len or total_q, found 'q_heads'");
  EXPECT_EQ(kernel([](json &k) { k["work_items"][0] = ""; }),
            "malformed package: kernels[0].work_items[0]: expected batch, "
            "heads, kv_heads, q_len, k_len or total_q, found ''");
  EXPECT_EQ(kernel([](json &k) { k["work_items"][2]["plus"] = "rows"; }),
            "malformed package: kernels[0].work_items[2]: expected batch, "
            "heads, kv_heads, q_len, k_len or total_q, found 'rows'");
  EXPECT_EQ(kernel([](json &k) { k["work_items"][2]["ceildiv"][1] = 0; }),
            "malformed package: kernels[0].work_items[2].ceildiv[1]: expected "
            "1 .. 2147483647, found 0");
}

TEST(Package, ArgumentsNothingBinds) {
  auto argument = [](const char *name, const char *type) {
    return messageAfter([&](json &root) {
      root["kernels"][0]["arguments"][3] = {{"name", name}, {"type", type}};
    });
  };
  const std::string where = "malformed package: kernels[0].arguments[3]: ";
  EXPECT_EQ(argument("p", "ptr"),
            where + "nothing can bind an argument named 'p'");
  EXPECT_EQ(argument("param:right", "i32"),
            where + "nothing can bind an argument named 'param:right'");
  EXPECT_EQ(argument("tensor:left", "ptr"),
            where + "nothing can bind an argument named 'tensor:left'");
  EXPECT_EQ(argument("q_stride_d", "i64"),
            where + "nothing can bind an argument named 'q_stride_d'");
  EXPECT_EQ(argument("q_stride_s", "i32"),
            where + "argument 'q_stride_s' has type i32, expected i64");
}

TEST(Package, ArgumentsAreThoseOfThePtx) {
  auto kernel = [](const std::function<void(json &)> &edit) {
    return messageAfter([&](json &root) { edit(root["kernels"][1]); });
  };
  EXPECT_EQ(kernel([](json &k) { k["arguments"].erase(11); }),
            "malformed package: kernels[1].arguments: expected the 13 "
            "parameters of the PTX, found 12");
  EXPECT_EQ(
      kernel([](json &k) { std::swap(k["arguments"][0], k["arguments"][6]); }),
      "malformed package: kernels[1].arguments[0]: 'q_len' has 4 bytes, "
      "the parameter of the PTX 8");
  EXPECT_EQ(
      kernel([](json &k) { k["ptx"] = ""; }),
      "malformed package: kernels[1].ptx: expected .entry fwd_short, found "
      "none");
}

TEST(Package, ParametersOfAKernelInPtx) {
  using Sizes = std::optional<std::vector<int64_t>>;
  const std::string ptx =
      ".func (.param .b32 r) helper(.param .b64 x);\n"
      "// .entry a (.param .u8 comment)\n"
      ".visible .entry a(.param .u64 .ptr .global .align 1 p, /* ) */\n"
      "  .param .f32 x, .param .align 64 .b8 map[128])\n{ }\n"
      ".entry b { ret; }";
  EXPECT_EQ(ptxParameterBytes(ptx, "a"), Sizes({{8, 4, 128}}));
  EXPECT_EQ(ptxParameterBytes(ptx, "b"), Sizes(std::vector<int64_t>()));
  EXPECT_EQ(ptxParameterBytes(ptx, "helper"), std::nullopt);
  EXPECT_EQ(ptxParameterBytes("/* .entry a", "a"), std::nullopt);
}

TEST(Package, TensorMaps) {
  auto map = [](const char *field, const json &value,
                const char *name = "k_map") {
    return messageAfter([&](json &root) {
      json &argument = root["kernels"][1]["arguments"].back();
      argument["name"] = name;
      argument[field] = value;
    });
  };
  const std::string where = "malformed package: kernels[1].arguments[12]",
                    named = where + ": argument 'k_map': ";
  EXPECT_EQ(map("type", "ptr"),
            where + ": argument 'k_map' has type ptr, expected tensor_map");
  EXPECT_EQ(map("swizzle", 128, "k_stride_map"),
            where + ": nothing can bind an argument named 'k_stride_map'");
  EXPECT_EQ(map("swizzle", 128, "l_map"),
            where + ": nothing can bind an argument named 'l_map'");
  EXPECT_EQ(map("box_rows", 0), named + "box_rows = 0: allowed 1 .. 256");
  EXPECT_EQ(map("box_rows", 257), named + "box_rows = 257: allowed 1 .. 256");
  EXPECT_EQ(map("box_columns", 0), named + "box_columns = 0: allowed 1 .. 256");
  EXPECT_EQ(map("box_columns", -1),
            where + ".box_columns: expected 0 .. 2147483647, found -1");
  EXPECT_EQ(map("box_columns", 60),
            named + "box_columns = 60 elements (120 "
                    "bytes): allowed multiples of 16 bytes");
  EXPECT_EQ(map("box_columns", 72),
            named + "box_columns = 72 elements (144 bytes): allowed up to the "
                    "swizzle's span of 128 bytes");
  EXPECT_EQ(map("swizzle", 16),
            named + "swizzle = 16: allowed 0, 32, 64, 128 bytes");
  EXPECT_EQ(map("swizzle", "128"),
            where + ".swizzle: expected an integer, found string");
  EXPECT_EQ(map("ragged", 1),
            where + ".ragged: expected true or false, found number");
  for (const char *field : {"box_rows", "box_columns", "swizzle"})
    EXPECT_EQ(messageAfter([&](json &root) {
                root["kernels"][1]["arguments"].back().erase(field);
              }),
              where + ": the field '" + field + "' is missing");
  EXPECT_EQ(messageAfter([](json &root) {
              root["problem"]["output_o"] = false;
              root["kernels"][1]["arguments"].back()["name"] = "o_map";
            }),
            where + ": nothing can bind an argument named 'o_map'");
}

TEST(Package, Grids) {
  auto kernel = [](const char *field, const json &value) {
    return messageAfter([&](json &root) { root["kernels"][0][field] = value; });
  };
  const std::string where = "malformed package: kernels[0].";
  EXPECT_EQ(kernel("grid", "persistent"),
            where + "grid: expected per_item or resident, found 'persistent'");
  EXPECT_EQ(kernel("grid", 1), where + "grid: expected a string, found number");
  EXPECT_EQ(kernel("blocks_per_sm", 2),
            where + "blocks_per_sm: expected only with \"grid\": \"resident\"");
  EXPECT_EQ(messageAfter(
                [](json &root) { root["kernels"][1]["blocks_per_sm"] = 33; }),
            "malformed package: kernels[1].blocks_per_sm: expected 1 .. 32, "
            "found 33");
  // Packages from before the field have one block per work item.
  json root = json::parse(toJson(fullPackage()));
  root["kernels"][0].erase("grid");
  EXPECT_EQ(packageFromJson(root.dump()).kernels[0].grid, GridKind::PerItem);
}

TEST(Package, ChooserAndGuards) {
  EXPECT_EQ(messageAfter([](json &root) { root["chooser"][0] = "x"; }),
            "malformed package: chooser: \"x\" is not the name of a kernel");
  EXPECT_EQ(
      messageAfter([](json &root) { root["kernels"][1]["name"] = "fwd"; }),
      "malformed package: kernels: two kernels are named 'fwd'");
  EXPECT_EQ(messageAfter([](json &root) {
              root["kernels"][1]["guards"][0]["op"] = "=";
            }),
            "malformed package: kernels[1].guards[0].op: expected ==, !=, <, "
            "<=, > or "
            ">=, found '='");
  EXPECT_EQ(
      messageAfter(
          [](json &root) { root["kernels"][1]["guards"][0]["lhs"] = "q"; }),
      "malformed package: kernels[1].guards[0].lhs: 'q' is not a launch value");
  EXPECT_EQ(messageAfter([](json &root) { root["kernels"] = json::array(); }),
            "malformed package: kernels: expected at least one kernel, found "
            "none");
}

/// The message for listPackage's JSON changed by `edit`.
std::string listMessageAfter(const std::function<void(json &)> &edit) {
  json root = json::parse(toJson(listPackage()));
  edit(root["kernels"]);
  return messageOf<PackageError>([&] { packageFromJson(root.dump()); });
}

TEST(Package, RolesRoundTrip) {
  std::string text = toJson(listPackage());
  Package read = packageFromJson(text);
  EXPECT_EQ(toJson(read), text);
  EXPECT_EQ(read.kernels[0].role, KernelRole::Attention);
  EXPECT_EQ(read.kernels[0].auxiliaries, std::vector<std::string>{"list"});
  EXPECT_EQ(read.kernels[1].role, KernelRole::BlockList);
  json root = json::parse(text);
  EXPECT_EQ(root["kernels"][1]["role"], "block_list");
  EXPECT_EQ(root["kernels"][1]["buffer_bytes"], json::parse(R"([{"bytes": 4,
              "times": ["batch", {"ceildiv": ["q_len", 16]}]}])"));
  // Absent: an attention kernel.
  EXPECT_EQ(listMessageAfter([](json &k) { k[0].erase("role"); }),
            "no exception");
}

TEST(Package, RolesThatDoNotBelongTogether) {
  const std::string first = "malformed package: kernels[0]",
                    second = "malformed package: kernels[1]";
  EXPECT_EQ(listMessageAfter([](json &k) { k[1]["role"] = "combine"; }),
            second + ".role: expected attention or block_list, found "
                     "'combine'");
  EXPECT_EQ(listMessageAfter([](json &k) { k[0].erase("auxiliary"); }),
            first + ".auxiliary: no kernel fills the argument 'block_list'");
  for (const char *name : {"fwd", "lists"})
    EXPECT_EQ(listMessageAfter([&](json &k) { k[0]["auxiliary"][0] = name; }),
              first + ".auxiliary: '" + name +
                  "' is not the name of an auxiliary kernel");
  EXPECT_EQ(listMessageAfter([](json &k) { k[0]["auxiliary"][0] = 1; }),
            first + ".auxiliary: expected names of kernels, found 1");
  EXPECT_EQ(listMessageAfter(
                [](json &k) { k[0]["buffer_bytes"] = k[1]["buffer_bytes"]; }),
            first + ".buffer_bytes: expected only of an auxiliary kernel");
  EXPECT_EQ(
      listMessageAfter([](json &k) { k[1]["auxiliary"] = k[0]["auxiliary"]; }),
      second + ".auxiliary: expected only of an attention kernel");
  EXPECT_EQ(listMessageAfter([](json &k) { k[1].erase("buffer_bytes"); }),
            second + ".buffer_bytes: expected the size of block_list, found "
                     "nothing");
  EXPECT_EQ(listMessageAfter(
                [](json &k) { k[1]["buffer_bytes"][0]["times"][0] = "rows"; }),
            second + ".buffer_bytes[0].times[0]: expected batch, heads, "
                     "kv_heads, q_len, k_len or total_q, found 'rows'");
  EXPECT_EQ(
      listMessageAfter([](json &k) { k[1]["buffer_bytes"][0]["bytes"] = 0; }),
      second + ".buffer_bytes[0].bytes: expected 1 .. 1073741824, found 0");
  EXPECT_EQ(listMessageAfter([](json &k) {
              k[1]["guards"] = {{{"lhs", "q_len"}, {"op", "<"}, {"rhs", 3}}};
            }),
            second + ".guards: expected only of an attention kernel");
  EXPECT_EQ(
      listMessageAfter([](json &k) { k[1]["workspace_bytes_per_item"] = 4; }),
      second + ".workspace_bytes_per_item: expected only of an attention "
               "kernel");
  for (const char *name : {"workspace", "work_counter"})
    EXPECT_EQ(listMessageAfter([&](json &k) {
                k[1]["arguments"].push_back({{"name", name}, {"type", "ptr"}});
              }),
              second + ".arguments: '" + name +
                  "' cannot be bound for an auxiliary kernel");
  EXPECT_EQ(listMessageAfter(
                [](json &k) { k[1]["arguments"][0]["name"] = "q_lens"; }),
            second + ".arguments: expected 'block_list', which the kernel "
                     "fills");
  EXPECT_EQ(listMessageAfter([](json &k) { k.erase(0); }),
            "malformed package: kernels: expected at least one kernel of role "
            "attention, found none");
  json root = json::parse(toJson(listPackage()));
  root["chooser"] = {"list"};
  EXPECT_EQ(messageOf<PackageError>([&] { packageFromJson(root.dump()); }),
            "malformed package: chooser: \"list\" is an auxiliary kernel");
}

/// Every value of a manifest in turn becomes every kind of other value, or
/// goes: a package is read or refused, and never anything else.
TEST(Package, AnyFieldMayBeAnything) {
  const std::vector<json> others = {nullptr,
                                    true,
                                    -1,
                                    0,
                                    2.5,
                                    uint64_t(1) << 63,
                                    INT64_MIN,
                                    "",
                                    "q",
                                    "x",
                                    json::array(),
                                    json::object(),
                                    json::array({"q_len", 0}),
                                    {{"ceildiv", {"q_len", 7}}}};
  for (const Package &package : {fullPackage(), listPackage()}) {
    const json whole = json::parse(toJson(package));
    // Trees of the problem are ProblemJson's, and tested there.
    std::vector<json::json_pointer> places;
    const json flat = whole.flatten();
    for (const auto &field : flat.items()) {
      json::json_pointer place(field.key());
      for (; !place.empty(); place.pop_back())
        if (std::find(places.begin(), places.end(), place) == places.end())
          places.push_back(place);
    }
    size_t refused = 0, read = 0;
    auto tryReading = [&](const json &root) {
      try {
        packageFromJson(root.dump());
        ++read;
      } catch (const PackageError &) {
        ++refused;
      }
    };
    for (const json::json_pointer &place : places) {
      for (const json &other : others) {
        json root = whole;
        root[place] = other;
        tryReading(root);
      }
      json root = whole;
      json &parent = root[place.parent_pointer()];
      if (parent.is_object())
        parent.erase(place.back());
      else
        parent.erase(std::stoul(place.back()));
      tryReading(root);
    }
    EXPECT_GT(refused, 1000u);
    EXPECT_GT(read, 10u);
  }
}

TEST(Package, TruncationNeverCrashes) {
  std::string text = toJson(fullPackage());
  for (size_t length = 0; length + 2 < text.size(); length += 7)
    EXPECT_THROW(packageFromJson(text.substr(0, length)), PackageError);
}

} // namespace

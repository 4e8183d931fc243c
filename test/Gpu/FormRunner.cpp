//===- FormRunner.cpp - Forms in processes of their own -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormRunner.h"

#include "attn/Sim/Simulator.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace attn::simtest {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

/// Of a child whose GPU could not be opened.
constexpr int noGpuStatus = 3;

void writeLine(int pipe, const Json &json) {
  // What a driver's log holds need not be UTF-8.
  std::string line =
      json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t done = 0; done < line.size();) {
    ssize_t count = write(pipe, line.data() + done, line.size() - done);
    if (count < 0)
      _exit(1); // the parent has gone
    done += size_t(count);
  }
}

/// Runs every `stride`-th form from `first` on and never returns.
[[noreturn]] void runChild(const std::vector<NamedForm> &forms, bool useGpu,
                           size_t first, size_t stride, int pipe) {
  std::unique_ptr<Device> simulator = openSimulator(), gpu;
  if (useGpu) {
    try {
      gpu = openGpu();
      writeLine(pipe, {{"device", gpu->info().name}});
    } catch (const DeviceError &error) {
      writeLine(pipe, {{"no_gpu", error.what()}});
      _exit(noGpuStatus);
    }
  }
  for (size_t i = first; i < forms.size(); i += stride) {
    Row row = forms[i].compare(*simulator, gpu.get());
    writeLine(pipe, row);
    if (!row.gpuError.empty() || row.faulted)
      _exit(0); // the context may be lost
  }
  _exit(0);
}

/// One child at a time, for the forms next, next + stride, ...
struct Slot {
  size_t next = 0;
  pid_t child = -1;
  int pipe = -1;
  bool moved = false; ///< it gave a row
  std::string text;   ///< read, without an end of line yet
  Clock::time_point deadline;
};

class Runner {
public:
  Runner(const std::vector<NamedForm> &forms, const RunnerOptions &options)
      : forms(forms), options(options) {
    result.rows.resize(forms.size());
  }

  RunnerResult run() {
    slots.resize(std::max(1u, options.jobs));
    for (size_t i = 0; i < slots.size(); ++i) {
      slots[i].next = i;
      start(slots[i]);
    }
    while (step() && result.noGpu.empty()) {
    }
    for (Slot &slot : slots)
      if (slot.child >= 0)
        stop(slot);
    if (!result.noGpu.empty())
      result.rows.clear();
    return std::move(result);
  }

private:
  void extend(Slot &slot) {
    slot.deadline = Clock::now() + std::chrono::seconds(options.secondsPerForm);
  }

  void start(Slot &slot) {
    if (slot.next >= forms.size())
      return;
    int ends[2];
    if (pipe(ends) != 0)
      throw DeviceError(std::string("pipe: ") + std::strerror(errno));
    slot.child = fork();
    if (slot.child < 0)
      throw DeviceError(std::string("fork: ") + std::strerror(errno));
    if (slot.child == 0) {
      close(ends[0]);
      runChild(forms, options.useGpu, slot.next, slots.size(), ends[1]);
    }
    close(ends[1]);
    slot.pipe = ends[0];
    slot.text.clear();
    slot.moved = false;
    extend(slot);
  }

  /// Ends the child; its wait status.
  int stop(Slot &slot) {
    close(slot.pipe);
    kill(slot.child, SIGKILL);
    int status = 0;
    waitpid(slot.child, &status, 0);
    slot.child = -1;
    return status;
  }

  /// The form that the child was at has no row: `why`.
  void fail(Slot &slot, const std::string &why) {
    Row row;
    row.name = forms[slot.next].name;
    row.gpuError = why;
    take(slot, row);
  }

  void take(Slot &slot, const Row &row) {
    result.rows[slot.next] = row;
    slot.next += slots.size();
    slot.moved = true;
    extend(slot);
  }

  void takeLines(Slot &slot) {
    for (size_t end; (end = slot.text.find('\n')) != std::string::npos;) {
      Json json = Json::parse(slot.text.substr(0, end));
      slot.text.erase(0, end + 1);
      if (json.contains("no_gpu"))
        result.noGpu = json["no_gpu"];
      else if (json.contains("device"))
        result.device = json["device"];
      else
        take(slot, json.get<Row>());
    }
  }

  /// The child closed its pipe: done, at a fault, or dead.
  void ended(Slot &slot) {
    close(slot.pipe);
    int status = 0;
    waitpid(slot.child, &status, 0);
    slot.child = -1;
    if (slot.next < forms.size() && WIFSIGNALED(status))
      fail(slot,
           "the process died of signal " + std::to_string(WTERMSIG(status)));
    else if (slot.next < forms.size() && !slot.moved && result.noGpu.empty())
      fail(slot, "the process left with status " +
                     std::to_string(WEXITSTATUS(status)));
    if (result.noGpu.empty())
      start(slot);
  }

  /// Waits for any child; false when all are done.
  bool step() {
    std::vector<pollfd> waits;
    std::vector<Slot *> running;
    for (Slot &slot : slots)
      if (slot.child >= 0) {
        waits.push_back({slot.pipe, POLLIN, 0});
        running.push_back(&slot);
      }
    if (running.empty())
      return false;
    constexpr int tick = 1000; // milliseconds, after which deadlines are seen
    poll(waits.data(), waits.size(), tick);
    for (size_t i = 0; i < running.size(); ++i) {
      Slot &slot = *running[i];
      char buffer[4096];
      ssize_t count = 0;
      if (waits[i].revents) {
        count = read(slot.pipe, buffer, sizeof(buffer));
        if (count > 0) {
          slot.text.append(buffer, size_t(count));
          takeLines(slot);
        } else {
          ended(slot);
        }
      } else if (Clock::now() > slot.deadline) {
        stop(slot);
        fail(slot, "no result within " +
                       std::to_string(options.secondsPerForm) + " s");
        start(slot);
      }
    }
    return true;
  }

  const std::vector<NamedForm> &forms;
  const RunnerOptions &options;
  std::vector<Slot> slots;
  RunnerResult result;
};

} // namespace

RunnerResult runForms(const std::vector<NamedForm> &forms,
                      const RunnerOptions &options) {
  return Runner(forms, options).run();
}

} // namespace attn::simtest

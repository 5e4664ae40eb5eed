// malloc_stats_print: what mallctl answers, as text or JSON, in jemalloc's frame. Letters that
// leave out parts of jemalloc's own statistics have nothing to leave out here.
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "compat/common/agent_link.h"
#include "compat/common/output.h"
#include "compat/common/watcher.h"
#include "compat/jemalloc/controls.h"
#include "compat/jemalloc/profiler.h"

namespace heapgauge::compat {
namespace {

using Write = void(void*, const char*);

bool IsText(std::string_view name) {
  return name == "version" || name == "config.malloc_conf" || name == "opt.prof_prefix" ||
         name == "opt.prof_time_resolution";
}

// The value as JSON; "" if there is none to read.
std::string ValueOf(const MallctlControl& control) {
  alignas(8) unsigned char bytes[8] = {};
  // The size is what the control takes.
  for (const size_t size : {size_t{1}, size_t{4}, size_t{8}}) {
    size_t given = size;
    ControlCall call;
    call.old_value = bytes;
    call.old_size = &given;
    if (control.call(call) != 0) continue;
    if (size == 1) return bytes[0] != 0 ? "true" : "false";
    uint64_t number = 0;
    std::memcpy(&number, bytes, size);
    if (IsText(control.name)) {
      const char* text = nullptr;
      std::memcpy(&text, bytes, sizeof text);
      return fmt::format("\"{}\"", text != nullptr ? text : "");
    }
    if (control.name == "opt.lg_prof_interval") {
      return std::to_string(static_cast<int64_t>(number));
    }
    return std::to_string(number);
  }
  return "";
}

bool IsShown(const MallctlControl& control, std::string_view group) {
  const std::string_view name = control.name;
  // These act when they are called, or belong to a thread.
  if (name == "prof.dump" || name == "prof.reset" || name == "prof.prefix") return false;
  return name.starts_with(group) && name.find('*') == std::string_view::npos;
}

uint64_t NumberOf(std::string_view name) {
  for (const MallctlControl& control : Controls()) {
    if (control.name == name) return std::strtoull(ValueOf(control).c_str(), nullptr, 10);
  }
  return 0;
}

void Refresh() {
  uint64_t epoch = 1;
  ControlCall call;
  call.new_value = &epoch;
  call.new_size = sizeof epoch;
  if (const auto at = Names().Find("epoch")) Controls()[*at].call(call);
}

std::string Plain() {
  std::string text = "___ Begin jemalloc statistics ___\n";
  const auto group = [&](const char* title, std::string_view prefix) {
    text += title;
    text += '\n';
    for (const MallctlControl& control : Controls()) {
      if (!IsShown(control, prefix)) continue;
      const std::string value = ValueOf(control);
      if (!value.empty())
        fmt::format_to(std::back_inserter(text), "  {}: {}\n", control.name, value);
    }
  };
  fmt::format_to(std::back_inserter(text), "Version: \"{}\"\n", "5.3.0-0-gheapgauge");
  group("Build-time option settings", "config.");
  group("Run-time option settings", "opt.");
  group("Profiling settings", "prof.");
  fmt::format_to(std::back_inserter(text),
                 "Allocated: {}, active: {}, metadata: 0 (n_thp 0), resident: {}, mapped: {}, "
                 "retained: 0\n",
                 NumberOf("stats.allocated"), NumberOf("stats.active"), NumberOf("stats.resident"),
                 NumberOf("stats.mapped"));
  text += "--- End jemalloc statistics ---\n";
  return text;
}

std::string Json() {
  std::string text = "{\"jemalloc\":{\"version\":\"5.3.0-0-gheapgauge\"";
  for (const char* group : {"config.", "opt.", "prof.", "stats."}) {
    fmt::format_to(std::back_inserter(text), ",\"{}\":{{",
                   std::string_view(group).substr(0, std::strlen(group) - 1));
    bool first = true;
    for (const MallctlControl& control : Controls()) {
      if (!IsShown(control, group)) continue;
      const std::string value = ValueOf(control);
      if (value.empty()) continue;
      fmt::format_to(std::back_inserter(text), "{}\"{}\":{}", first ? "" : ",",
                     control.name.substr(std::strlen(group)), value);
      first = false;
    }
    text += '}';
  }
  text += "}}\n";
  return text;
}

}  // namespace
}  // namespace heapgauge::compat

extern "C" __attribute__((visibility("default"))) void malloc_stats_print(
    heapgauge::compat::Write* write, void* argument, const char* options) noexcept {
  using namespace heapgauge::compat;
  static auto* const real =
      NextAs<void(heapgauge::compat::Write*, void*, const char*)>("malloc_stats_print");
  if (real != nullptr) return real(write, argument, options);
  std::string text;
  {
    const Working working;
    Refresh();
    text = options != nullptr && std::strchr(options, 'J') != nullptr ? Json() : Plain();
  }
  if (write != nullptr) {
    write(argument, text.c_str());
  } else {
    JemallocMessage(text);
  }
}

// Makes profiles for tests of analyses and reports: functions, stacks of them, figures. Not for use
// outside of tests.
//
//   Maker m;
//   const auto f = m.Function("f(int)", 42);
//   m.Row({f, m.Function("main")}, 100, 300);   // innermost first; live and allocated bytes
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::testing {

class Maker {
 public:
  Maker() { profile_.sample_types = HeapSampleTypes(); }

  ModuleId Module(const std::string& path) {
    heapgauge::Module module;
    module.path = path;
    profile_.modules.push_back(module);
    return static_cast<ModuleId>(profile_.modules.size() - 1);
  }

  // A location of its own with one frame.
  LocationId Function(const std::string& name, uint32_t line = 1, const std::string& file = "x.cc",
                      ModuleId module = kNone, const std::string& system_name = "") {
    Location location;
    location.address = 0x1000 + 16 * profile_.locations.size();
    location.module = module;
    location.first_frame = static_cast<uint32_t>(profile_.frames.size());
    profile_.locations.push_back(location);
    const auto id = static_cast<LocationId>(profile_.locations.size() - 1);
    AddFrame(id, name, line, file, false, system_name);
    return id;
  }

  // One more frame for the location that was made last, further out; those before are inlined.
  void InlinedInto(LocationId location, const std::string& name, uint32_t line = 1,
                   const std::string& file = "x.cc") {
    profile_.frames.back().inlined = true;
    AddFrame(location, name, line, file, false, "");
  }

  void Row(const std::vector<LocationId>& stack, double live, double allocated = 0) {
    NodeId node = kNone;
    for (size_t i = stack.size(); i-- > 0;) {
      profile_.nodes.push_back({node, stack[i]});
      node = static_cast<NodeId>(profile_.nodes.size() - 1);
    }
    heapgauge::Row row;
    row.leaf = node;
    row.samples = 2;
    row.live_samples = live > 0 ? 1 : 0;
    profile_.rows.push_back(row);
    profile_.values.resize(profile_.rows.size() * kHeapTypes);
    const RowId id = static_cast<RowId>(profile_.rows.size() - 1);
    profile_.value(id, kInuseSpace) = std::llround(live);
    profile_.value(id, kAllocSpace) = std::llround(allocated);
  }

  Profile& profile() { return profile_; }

 private:
  void AddFrame(LocationId location, const std::string& name, uint32_t line,
                const std::string& file, bool inlined, const std::string& system_name) {
    heapgauge::Function function;
    function.name = name;
    function.system_name = system_name;
    function.file = file;
    profile_.functions.push_back(function);
    profile_.frames.push_back(
        {static_cast<FunctionId>(profile_.functions.size() - 1), line, inlined});
    ++profile_.locations[location].frame_count;
  }

  Profile profile_;
};

}  // namespace heapgauge::testing

// What a line of pprof's reports stands for, which pprof calls a node: by default a function's
// name, with other options a file, a source line or an address.
//
// Which frames are one node is pprof's rule, and coarser than the one of the native reports
// (core/fold/frames.h): functions with equal names are one, wherever they come from. Frames
// that nobody has a name for are one node for each module.
//
// Made once from a profile, in time linear in its frames, read-only afterwards. The profile must
// outlive it. Nodes are numbered as they are met, by location.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/voices/pprof/config.h"

namespace heapgauge::pprof {

using EntryId = uint32_t;

struct NodeInfo {
  std::string_view name;    // of the function, "" unknown or not asked for
  std::string_view file;    // cleaned
  std::string_view object;  // path of the module; "" if names are enough to tell nodes apart
  uint64_t address = 0;
  int64_t start_line = 0;
  int64_t line = 0;
};

// "0000000000401000 main /src/a.c:12", as far as known.
std::string PrintableName(const NodeInfo& info);
// The same in parts, which dot shows one under the other.
std::vector<std::string> NameParts(const NodeInfo& info);
// Decides between nodes that are equal in all that is shown.
std::string DebugText(const NodeInfo& info);

struct NodeOptions {
  Shape granularity = Shape::kFunctions;
  bool no_inlines = false;
  bool object_names = false;  // equal functions of two modules are two nodes
  bool trim_paths = true;     // of source files, see TrimSourcePath
  std::string source_path;
  std::string trim_path;
};
NodeOptions NodeOptionsOf(const Config& config);

class NodeTable {
 public:
  NodeTable(const Profile& profile, const NodeOptions& options);

  size_t size() const { return infos_.size(); }
  const NodeInfo& operator[](EntryId id) const { return infos_[id]; }

  // The nodes of a location's frames, the innermost first; never empty.
  std::span<const EntryId> Of(LocationId location) const {
    if (!has_inlines_) return {&ids_[location], 1};
    return {ids_.data() + first_[location], first_[location + 1] - first_[location]};
  }
  // The node of a location with one frame, as nearly all are; kNone if there are several. One look
  // at memory in place of three.
  EntryId OnlyOf(LocationId location) const {
    return has_inlines_ ? only_[location] : ids_[location];
  }
  // Whether some call was inlined.
  bool has_inlines() const { return has_inlines_; }

 private:
  class Interner;

  std::deque<std::string> files_;  // those that differ from the profile's
  std::vector<NodeInfo> infos_;
  std::vector<uint32_t> first_;  // by location, and the end
  std::vector<EntryId> ids_;
  std::vector<EntryId> only_;  // by location, if calls were inlined
  bool has_inlines_ = false;
};

}  // namespace heapgauge::pprof

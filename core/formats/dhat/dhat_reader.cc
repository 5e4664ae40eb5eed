#include "core/formats/dhat/dhat_reader.h"

#include <fmt/format.h>

#include <unordered_map>

#include "core/base/text.h"
#include "core/formats/dhat/dhat_file.h"
#include "core/formats/text/scan.h"
#include "core/model/stacks.h"

namespace heapgauge {
namespace {

// Frames of inlined calls stand in a row with one address: together they are one location. That is
// known only when the frame table is, which comes last, so the stacks are kept until then.
class ProfileMaker final : public DhatVisitor {
 public:
  Status Point(const DhatPoint& point, const std::vector<uint32_t>& frames) override {
    points_.push_back(point);
    frames_.insert(frames_.end(), frames.begin(), frames.end());
    ends_.push_back(frames_.size());
    return {};
  }
  Status FrameText(std::string_view text) override {
    table_.emplace_back(text);
    return {};
  }

  Result<Profile> Take(const DhatFacts& facts, const std::string& name) {
    std::vector<DhatFrame> parsed;
    parsed.reserve(table_.size());
    for (const std::string& text : table_) parsed.push_back(ParseDhatFrame(text));
    for (const uint32_t frame : frames_) {
      if (frame >= parsed.size()) {
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("DHAT file: {}: a stack names frame {}, but there are {}",
                                Printable(name), frame, parsed.size()));
      }
    }
    const std::vector<DhatType> types = DhatTypes(facts);
    for (const DhatType& type : types) profile_.sample_types.push_back(type.type);
    profile_.default_type = 1;
    profile_.recording.command_line = WordsOf(facts.command, " ");
    AddProgram();
    StackBuilder stacks(&profile_);
    std::vector<LocationId> stack;
    size_t begin = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      stack.clear();
      while (begin < ends_[i]) stack.push_back(TakeLocation(parsed, &begin, ends_[i]));
      Row row;
      row.leaf = stacks.Leaf(stack);
      profile_.rows.push_back(row);
      for (const DhatType& type : types) {
        profile_.values.push_back(static_cast<int64_t>(points_[i].*type.figure));
      }
    }
    profile_.distinct_nodes = stacks.distinct();
    SetFacts(facts);
    return std::move(profile_);
  }

 private:
  // The frames from `*begin` on that have one address.
  LocationId TakeLocation(const std::vector<DhatFrame>& parsed, size_t* begin, size_t end) {
    const size_t first = *begin;
    const DhatFrame& inner = parsed[frames_[first]];
    ++*begin;
    while (*begin < end && inner.has_address && parsed[frames_[*begin]].has_address &&
           parsed[frames_[*begin]].address == inner.address && frames_[*begin] != frames_[first]) {
      ++*begin;
    }
    std::string key(reinterpret_cast<const char*>(&frames_[first]),
                    (*begin - first) * sizeof(uint32_t));
    const auto [it, is_new] =
        locations_.try_emplace(std::move(key), static_cast<LocationId>(profile_.locations.size()));
    if (!is_new) return it->second;
    Location location;
    location.address = inner.address;
    location.exact = true;  // valgrind has taken one off the return address
    location.first_frame = static_cast<uint32_t>(profile_.frames.size());
    location.frame_count = static_cast<uint32_t>(*begin - first);
    for (size_t i = first; i < *begin; ++i) {
      const DhatFrame& from = parsed[frames_[i]];
      if (!from.module.empty()) location.module = ModuleOf(from.module);
      Frame frame;
      frame.function = FunctionOf(from);
      frame.line = from.line;
      frame.column = from.column;
      frame.inlined = i + 1 < *begin;
      profile_.frames.push_back(frame);
    }
    profile_.locations.push_back(location);
    return it->second;
  }

  // The first module of a profile is the program. Frames name it only where they have no source.
  void AddProgram() {
    const std::vector<std::string>& command = profile_.recording.command_line;
    if (!command.empty()) ModuleOf(command.front());
  }

  ModuleId ModuleOf(std::string_view path) {
    if (!profile_.modules.empty() && profile_.modules[0].path.front() != '/' &&
        path.starts_with('/') && BaseName(path) == BaseName(profile_.modules[0].path)) {
      profile_.modules[0].path = path;
      modules_.try_emplace(std::string(path), 0);
    }
    const auto [it, is_new] =
        modules_.try_emplace(std::string(path), static_cast<ModuleId>(profile_.modules.size()));
    if (is_new) {
      Module module;
      module.path = path;
      module.load_bias_known = false;
      module.has_functions = true;
      module.has_files = module.has_lines = module.has_inlines = true;
      profile_.modules.push_back(std::move(module));
    }
    return it->second;
  }

  FunctionId FunctionOf(const DhatFrame& frame) {
    Function function;
    function.name = frame.function;
    function.file = frame.file;
    if (function.name.empty()) {
      // Where the object was loaded is not told, so nobody can find the name.
      function.name = fmt::format("{}{}{:#x}", BaseName(frame.module),
                                  frame.module.empty() ? "" : " ", frame.address);
      function.placeholder = true;
    }
    const auto [it, is_new] = functions_.try_emplace(
        function.name + '\0' + function.file, static_cast<FunctionId>(profile_.functions.size()));
    if (is_new) profile_.functions.push_back(std::move(function));
    return it->second;
  }

  void SetFacts(const DhatFacts& facts) {
    RecordingFacts& recording = profile_.recording;
    const uint64_t unit = DhatUnitNs(facts.time_unit);
    const auto to_ns = [&](uint64_t time) {
      uint64_t ns = 0;
      return __builtin_mul_overflow(time, unit, &ns) || ns > INT64_MAX ? 0 : ns;
    };
    recording.duration_ns = to_ns(facts.end_time);
    profile_.duration_ns = static_cast<int64_t>(recording.duration_ns);
    const size_t peak = profile_.FindType("peak_space");
    if (peak < profile_.sample_types.size()) {
      recording.has_peak = true;
      recording.peak_ns = to_ns(facts.peak_time);
      double sum = 0;
      for (const DhatPoint& point : points_) sum += static_cast<double>(point.peak_bytes);
      recording.peak_bytes = sum < 9e18 ? static_cast<uint64_t>(sum) : INT64_MAX;
    }
    std::string comment = fmt::format("DHAT, mode {}, pid {}", Printable(facts.mode), facts.pid);
    if (!facts.time_unit.empty()) {
      comment += fmt::format(": ended at {} {}", facts.end_time, Printable(facts.time_unit));
      if (facts.has_lifetimes) comment += fmt::format(", peak at {}", facts.peak_time);
    }
    profile_.comments.push_back(comment);
  }

  Profile profile_;
  std::vector<DhatPoint> points_;
  std::vector<uint32_t> frames_;  // of all points, end to end
  std::vector<size_t> ends_;
  std::vector<std::string> table_;
  std::unordered_map<std::string, LocationId> locations_;  // by their frames
  std::unordered_map<std::string, ModuleId> modules_;
  std::unordered_map<std::string, FunctionId> functions_;
};

}  // namespace

Result<Profile> ReadDhat(ByteStream* stream, const std::string& name) {
  ProfileMaker maker;
  HG_ASSIGN(const DhatFacts facts, ParseDhat(stream, name, &maker));
  return maker.Take(facts, name);
}

}  // namespace heapgauge

#include "core/formats/text/profile_text.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "core/base/text.h"

namespace heapgauge {
namespace {

// Blocks without an address (collapsed stacks) get one that no program has.
constexpr uint64_t kInvented = 0x10;

// If the sampled form would be off by more than this share, figures are written as they are.
constexpr double kTolerance = 0.005;

// "--" stands between names.
std::string NameForList(const std::string& name) {
  std::string text = Printable(name);
  for (size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at)) {
    text.replace(at, 2, "- -");
  }
  return text.empty() ? "?" : text;
}

void AddLines(const Resampled& from, Resampled* to) {
  for (const CountAndSize& line : from.lines) to->lines[0].Add(line);
}

}  // namespace

Result<ProfileText> ProfileText::Make(const Profile& profile, const TextWriteOptions& options) {
  ProfileText text(profile, options);
  HG_TRY(text.FindTypes());
  HG_TRY(text.CheckAddresses());
  text.rate_ = options.rate;
  if (text.rate_ == 0) {
    const bool sampled = profile.period_type.unit == "bytes" && profile.period > 1;
    text.rate_ = sampled ? profile.period : static_cast<int64_t>(profile.recording.interval);
    // Not every profile with a period can be put into samples: one that was scaled, or a
    // difference.
    double error = 0;
    double all = 0;
    for (RowId row = 0; row < profile.rows.size() && text.rate_ > 1; ++row) {
      const TextRow figures = text.Row(row);
      const double size = profile.estimate(row, text.space_).value;
      error += std::fabs(figures.in_use.size_error) + std::fabs(figures.allocated.size_error);
      all += std::fabs(size);
      if (text.has_allocated()) all += std::fabs(profile.estimate(row, text.alloc_space_).value);
      if (size < 0) error = HUGE_VAL;
    }
    if (error > kTolerance * all) text.rate_ = 1;
  }
  text.rate_ = std::max<int64_t>(text.rate_, 1);
  return text;
}

Status ProfileText::FindTypes() {
  const auto find = [&](const char* name) {
    const size_t type = profile_.FindType(name);
    return type < profile_.sample_types.size() ? type : size_t{kNone};
  };
  for (const char* name : {"inuse_objects", "objects", "mmap_objects", "pool_objects"}) {
    if (objects_ == kNone) objects_ = find(name);
  }
  for (const char* name : {"inuse_space", "space", "mmap_space", "pool_space"}) {
    if (space_ == kNone) space_ = find(name);
  }
  for (const char* name : {"alloc_objects", "mmap_alloc_objects", "pool_alloc_objects"}) {
    if (alloc_objects_ == kNone) alloc_objects_ = find(name);
  }
  for (const char* name : {"alloc_space", "mmap_alloc_space", "pool_alloc_space"}) {
    if (alloc_space_ == kNone) alloc_space_ = find(name);
  }
  if (alloc_objects_ == kNone || alloc_space_ == kNone) alloc_objects_ = alloc_space_ = kNone;
  if (objects_ != kNone && space_ != kNone) return {};
  return Fail(
      ErrorCode::kUnsupported,
      "a text heap profile needs blocks and bytes in use, which this profile does not have");
}

Status ProfileText::CheckAddresses() const {
  if (options_.symbolized) return {};
  for (const Location& location : profile_.locations) {
    if (location.address != 0 || location.frame_count == 0) continue;
    return Fail(ErrorCode::kUnsupported,
                "the profile has names but no addresses: write it with its names (--symbolized)");
  }
  return {};
}

TextRow ProfileText::Row(RowId row) const {
  TextRow result;
  result.in_use =
      Resample(profile_.estimate(row, objects_).value, profile_.estimate(row, space_).value, rate_);
  if (has_allocated()) {
    result.allocated = Resample(profile_.estimate(row, alloc_objects_).value,
                                profile_.estimate(row, alloc_space_).value, rate_);
  }
  return result;
}

TextRow ProfileText::Totals() const {
  TextRow sum;
  for (RowId row = 0; row < profile_.rows.size(); ++row) {
    if (!selected(row)) continue;
    const TextRow one = Row(row);
    AddLines(one.in_use, &sum.in_use);
    AddLines(one.allocated, &sum.allocated);
  }
  return sum;
}

uint64_t ProfileText::AddressOf(LocationId id) const {
  const Location& location = profile_.locations[id];
  if (location.address == 0) return kInvented * (id + uint64_t{1});
  return location.exact ? location.address + 1 : location.address;
}

void ProfileText::AppendStack(RowId row, std::string* text) {
  profile_.StackOf(row, &stack_);
  for (const LocationId id : stack_) {
    fmt::format_to(std::back_inserter(*text), " 0x{:x}", AddressOf(id));
  }
}

std::string ProfileText::Mappings() const {
  std::string text = "\nMAPPED_LIBRARIES:\n";
  for (const Module& module : profile_.modules) {
    if (module.start >= module.end || module.path.empty()) continue;
    fmt::format_to(std::back_inserter(text), "{:08x}-{:08x} r-xp {:08x} 00:00 0 {}{}\n",
                   module.start, module.end, module.offset, std::string(10, ' '),
                   Printable(module.path));
  }
  return text;
}

Status ProfileText::WriteSymbols(const std::string& marker, TextSink* sink) {
  if (!options_.symbolized) return {};
  std::string text = "--- symbol\n";
  std::string program = profile_.modules.empty() ? "" : profile_.modules[0].path;
  if (program.empty()) program = profile_.recording.program;
  if (!program.empty()) text += "binary=" + Printable(program) + "\n";
  std::unordered_set<uint64_t> written;
  const auto write = [&](LocationId id, uint64_t address) {
    const Location& location = profile_.locations[id];
    if (location.frame_count == 0 || !written.insert(address).second) return;
    fmt::format_to(std::back_inserter(text), "0x{:016x} ", address);
    for (uint32_t i = location.frame_count; i-- > 0;) {
      const Frame& frame = profile_.frames[location.first_frame + i];
      text += NameForList(profile_.functions[frame.function].name);
      if (i != 0) text += "--";
    }
    text += '\n';
  };
  for (LocationId id = 0; id < profile_.locations.size(); ++id) write(id, AddressOf(id) - 1);
  // jeprof looks the innermost address up as it stands on the stack, google-pprof all of them.
  for (LocationId id = 0; id < profile_.locations.size(); ++id) write(id, AddressOf(id));
  text += "---\n";
  if (!marker.empty()) text += "--- " + marker + "\n";
  return sink->Write(text);
}

}  // namespace heapgauge

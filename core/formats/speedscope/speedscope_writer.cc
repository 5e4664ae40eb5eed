#include "core/formats/speedscope/speedscope_writer.h"
#include "core/base/json.h"

#include <algorithm>
#include <unordered_map>

namespace heapgauge {
namespace {

// The units that speedscope knows how to print; all others are plain numbers.
const char* UnitOf(const std::string& unit) {
  for (const char* known : {"bytes", "nanoseconds", "microseconds", "milliseconds", "seconds"}) {
    if (unit == known) return known;
  }
  return "none";
}

class Writer {
 public:
  Writer(const Profile& profile, const SpeedscopeOptions& options, TextSink* out)
      : profile_(profile), options_(options), out_(out) {}

  Status Write() {
    HG_TRY(out_->Write("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"));
    HG_TRY(out_->Write("\"exporter\": " + Json(options_.exporter).Line() + ",\n"));
    const std::string name = profile_.recording.name();
    if (!name.empty()) HG_TRY(out_->Write("\"name\": " + Json(name).Line() + ",\n"));
    HG_TRY(WriteFrames());
    const size_t types = profile_.sample_types.size();
    HG_TRY(out_->Write(
        "\"activeProfileIndex\": " + std::to_string(options_.shown < types ? options_.shown : 0) +
        ",\n\"profiles\": ["));
    for (size_t type = 0; type < types; ++type) {
      HG_TRY(out_->Write(type == 0 ? "\n" : ",\n"));
      HG_TRY(WriteType(type));
    }
    return out_->Write("\n]}\n");
  }

 private:
  Status WriteFrames() {
    std::unordered_map<std::string, uint32_t> numbers;
    number_.resize(profile_.frames.size());
    HG_TRY(out_->Write("\"shared\": {\"frames\": ["));
    for (uint32_t frame = 0; frame < profile_.frames.size(); ++frame) {
      const Function& function = profile_.functions[profile_.frames[frame].function];
      const std::string& name = options_.frame_names[frame];
      const auto [it, is_new] =
          numbers.emplace(name + '\0' + function.file, static_cast<uint32_t>(numbers.size()));
      number_[frame] = it->second;
      if (!is_new) continue;
      Json json = {{"name", name}};
      if (!function.file.empty()) json["file"] = function.file;
      if (function.start_line != 0) json["line"] = function.start_line;
      HG_TRY(out_->Write((it->second == 0 ? "\n" : ",\n") + json.Line()));
    }
    return out_->Write("\n]},\n");
  }

  bool IsWritten(RowId row, size_t type) const {
    return (options_.selected.empty() || options_.selected[row]) && profile_.value(row, type) > 0;
  }

  Status WriteType(size_t type) {
    const SampleType& about = profile_.sample_types[type];
    double total = 0;
    for (RowId row = 0; row < profile_.rows.size(); ++row) {
      if (IsWritten(row, type)) total += static_cast<double>(profile_.value(row, type));
    }
    const Json head = {{"type", "sampled"},
                       {"name", about.name},
                       {"unit", UnitOf(about.unit)},
                       {"startValue", 0},
                       {"endValue", total}};
    std::string opened = head.Line();
    opened.pop_back();
    HG_TRY(out_->Write(opened + ",\n\"samples\": ["));
    bool first = true;
    for (RowId row = 0; row < profile_.rows.size(); ++row) {
      if (!IsWritten(row, type)) continue;
      HG_TRY(out_->Write(first ? "\n" : ",\n"));
      HG_TRY(WriteStack(row));
      first = false;
    }
    HG_TRY(out_->Write("\n],\n\"weights\": ["));
    first = true;
    for (RowId row = 0; row < profile_.rows.size(); ++row) {
      if (!IsWritten(row, type)) continue;
      HG_TRY(out_->Write((first ? "" : ",") + std::to_string(profile_.value(row, type))));
      first = false;
    }
    return out_->Write("]}");
  }

  // From the outermost frame inwards.
  Status WriteStack(RowId row) {
    profile_.StackOf(row, &stack_);
    line_ = "[";
    for (size_t i = stack_.size(); i-- > 0;) {
      const Location& location = profile_.locations[stack_[i]];
      for (uint32_t k = location.frame_count; k-- > 0;) {
        if (line_.size() > 1) line_ += ',';
        line_ += std::to_string(number_[location.first_frame + k]);
      }
    }
    line_ += ']';
    return out_->Write(line_);
  }

  const Profile& profile_;
  const SpeedscopeOptions& options_;
  TextSink* out_;
  std::vector<uint32_t> number_;  // by frame, in the file
  std::vector<LocationId> stack_;
  std::string line_;
};

}  // namespace

Status WriteSpeedscope(const Profile& profile, const SpeedscopeOptions& options, TextSink* out) {
  return Writer(profile, options, out).Write();
}

}  // namespace heapgauge

#include "core/formats/pprof/pprof_writer.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/sinks.h"
#include "core/formats/pprof/proto_cursor.h"

namespace heapgauge {

// Writes protobuf fields into a string. The counterpart of proto_cursor.h.
//
// Not synchronised.
class ProtoEncoder {
 public:
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }
  void Number(uint32_t field, uint64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(value);
  }
  // Nothing if it is 0, which is what readers take a missing field for.
  void NumberUnlessZero(uint32_t field, uint64_t value) {
    if (value != 0) Number(field, value);
  }
  void Bytes(uint32_t field, std::string_view bytes) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(bytes.size());
    bytes_ += bytes;
  }
  void Message(uint32_t field, const ProtoEncoder& message) { Bytes(field, message.bytes_); }
  // Fields that are encoded already.
  void Raw(std::string_view fields) { bytes_ += fields; }

  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

namespace {

using namespace profile_proto;  // NOLINT: the field numbers, and nothing else

// The texts must outlive the table.
class StringTable {
 public:
  StringTable() { Add(""); }
  uint64_t Add(std::string_view text) {
    const auto [it, is_new] = ids_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return it->second;
  }
  const std::vector<std::string_view>& strings() const { return strings_; }

 private:
  std::unordered_map<std::string_view, uint64_t> ids_;
  std::vector<std::string_view> strings_;
};

class PprofWriting {
 public:
  PprofWriting(const Profile& profile, const PprofWriteOptions& options, TextSink* out)
      : profile_(profile), options_(options), sink_(out) {}

  Status Run() {
    for (const SampleType& type : profile_.sample_types) WriteType(kSampleType, type);
    HG_TRY(WriteSamples());
    OrderMappings();
    HG_TRY(WriteMappings());
    HG_TRY(WriteLocations());
    HG_TRY(WriteFunctions());
    WriteHeader();
    HG_TRY(Flush(0));
    for (const std::string_view text : strings_.strings()) {  // last: by now all are known
      out_.Bytes(kStringTable, text);
      HG_TRY(Flush());
    }
    return Flush(0);
  }

 private:
  using Owner = UnknownFields::Owner;

  Status Flush(size_t limit = 64 << 10) {
    if (out_.bytes().size() <= limit) return {};
    Status status = sink_->Write(out_.bytes());
    out_.Clear();
    return status;
  }

  // What the file that was read had beside the fields that are known here.
  void AddUnknown(Owner owner, uint32_t id, ProtoEncoder* message) const {
    if (profile_.unknown_fields.empty()) return;
    const auto before = [](const UnknownFields& a, const std::pair<Owner, uint32_t>& b) {
      return a.owner != b.first ? a.owner < b.first : a.id < b.second;
    };
    auto it = std::lower_bound(profile_.unknown_fields.begin(), profile_.unknown_fields.end(),
                               std::pair(owner, id), before);
    for (; it != profile_.unknown_fields.end() && it->owner == owner && it->id == id; ++it) {
      message->Raw(it->bytes);
    }
  }

  void WriteType(uint32_t field, const SampleType& type) {
    message_.Clear();
    message_.NumberUnlessZero(kTypeName, strings_.Add(type.name));
    message_.NumberUnlessZero(kTypeUnit, strings_.Add(type.unit));
    out_.Message(field, message_);
  }

  // Ids in the file count from 1; locations keep their order, the empty stack gets the next id.
  Status WriteSamples() {
    const size_t types = profile_.sample_types.size();
    used_locations_.resize(profile_.locations.size());
    used_functions_.resize(profile_.functions.size());
    for (RowId row = 0; row < profile_.rows.size(); ++row) {
      if (!options_.selected.empty() && !options_.selected[row]) continue;
      const int64_t* values = profile_.values.data() + row * types;
      if (std::all_of(values, values + types, [](int64_t v) { return v == 0; })) continue;
      message_.Clear();
      part_.Clear();
      for (NodeId node = profile_.rows[row].leaf; node != kNone;
           node = profile_.nodes[node].parent) {
        const LocationId location = profile_.nodes[node].location;
        used_locations_[location] = 1;
        part_.Varint(uint64_t{location} + 1);
      }
      if (part_.bytes().empty() && !options_.empty_stack.empty()) {
        part_.Varint(profile_.locations.size() + 1);
        has_empty_stack_ = true;
      }
      if (!part_.bytes().empty()) message_.Message(kSampleLocation, part_);
      part_.Clear();
      for (size_t i = 0; i < types; ++i) part_.Varint(static_cast<uint64_t>(values[i]));
      message_.Message(kSampleValue, part_);
      for (const Label& label : profile_.LabelsOf(row)) AddLabel(label);
      AddUnknown(Owner::kSample, row, &message_);
      out_.Message(kSample, message_);
      HG_TRY(Flush());
    }
    return {};
  }

  void AddLabel(const Label& label) {
    part_.Clear();
    part_.NumberUnlessZero(kLabelKey, strings_.Add(profile_.strings[label.key]));
    if (label.is_number()) {
      part_.NumberUnlessZero(kLabelNumber, static_cast<uint64_t>(label.number));
      if (label.unit != kNone) {
        part_.NumberUnlessZero(kLabelUnit, strings_.Add(profile_.strings[label.unit]));
      }
    } else {
      part_.NumberUnlessZero(kLabelText, strings_.Add(profile_.strings[label.text]));
    }
    message_.Message(kSampleLabel, part_);
  }

  // Readers take the first mapping for the program.
  void OrderMappings() {
    const std::vector<Module>& modules = profile_.modules;
    for (ModuleId m = 0; m < modules.size(); ++m) mapping_order_.push_back(m);
    if (!modules.empty() && modules[0].path != profile_.recording.program) {
      std::stable_partition(mapping_order_.begin(), mapping_order_.end(), [&](ModuleId m) {
        return modules[m].path == profile_.recording.program;
      });
    }
    mapping_ids_.resize(modules.size());
    for (size_t i = 0; i < mapping_order_.size(); ++i) mapping_ids_[mapping_order_[i]] = i + 1;
  }

  Status WriteMappings() {
    for (const ModuleId id : mapping_order_) {
      const Module& module = profile_.modules[id];
      message_.Clear();
      message_.Number(kMappingId, mapping_ids_[id]);
      message_.NumberUnlessZero(kMappingStart, module.start);
      message_.NumberUnlessZero(kMappingLimit, module.end);
      message_.NumberUnlessZero(kMappingOffset, module.offset);
      message_.NumberUnlessZero(kMappingFile, strings_.Add(module.path));
      message_.NumberUnlessZero(kMappingBuildId, strings_.Add(module.build_id));
      message_.NumberUnlessZero(kMappingHasFunctions, module.has_functions);
      message_.NumberUnlessZero(kMappingHasFiles, module.has_files);
      message_.NumberUnlessZero(kMappingHasLines, module.has_lines);
      message_.NumberUnlessZero(kMappingHasInlines, module.has_inlines);
      AddUnknown(Owner::kModule, id, &message_);
      out_.Message(kMapping, message_);
      HG_TRY(Flush());
    }
    return {};
  }

  Status WriteLocations() {
    for (LocationId id = 0; id < profile_.locations.size(); ++id) {
      if (used_locations_[id] == 0) continue;
      const Location& location = profile_.locations[id];
      message_.Clear();
      message_.Number(kLocationId, uint64_t{id} + 1);
      if (location.module != kNone) {
        message_.Number(kLocationMapping, mapping_ids_[location.module]);
      }
      message_.NumberUnlessZero(kLocationAddress, location.lookup_address());
      for (uint32_t i = 0; i < location.frame_count; ++i) {
        const Frame& frame = profile_.frames[location.first_frame + i];
        used_functions_[frame.function] = 1;
        part_.Clear();
        part_.Number(kLineFunction, uint64_t{frame.function} + 1);
        part_.NumberUnlessZero(kLineNumber, frame.line);
        part_.NumberUnlessZero(kLineColumn, frame.column);
        message_.Message(kLocationLine, part_);
      }
      message_.NumberUnlessZero(kLocationFolded, location.folded);
      AddUnknown(Owner::kLocation, id, &message_);
      out_.Message(kLocation, message_);
      HG_TRY(Flush());
    }
    if (!has_empty_stack_) return {};
    message_.Clear();
    message_.Number(kLocationId, profile_.locations.size() + 1);
    part_.Clear();
    part_.Number(kLineFunction, profile_.functions.size() + 1);
    message_.Message(kLocationLine, part_);
    out_.Message(kLocation, message_);
    return {};
  }

  Status WriteFunctions() {
    for (FunctionId id = 0; id < profile_.functions.size(); ++id) {
      if (used_functions_[id] == 0) continue;
      const Function& function = profile_.functions[id];
      message_.Clear();
      message_.Number(kFunctionId, uint64_t{id} + 1);
      message_.NumberUnlessZero(kFunctionName, strings_.Add(function.name));
      const bool same = function.system_name.empty() && !function.no_system_name;
      message_.NumberUnlessZero(kFunctionSystemName,
                                strings_.Add(same ? function.name : function.system_name));
      message_.NumberUnlessZero(kFunctionFile, strings_.Add(function.file));
      message_.NumberUnlessZero(kFunctionStartLine, static_cast<uint64_t>(function.start_line));
      AddUnknown(Owner::kFunction, id, &message_);
      out_.Message(kFunction, message_);
      HG_TRY(Flush());
    }
    if (!has_empty_stack_) return {};
    message_.Clear();
    message_.Number(kFunctionId, profile_.functions.size() + 1);
    message_.Number(kFunctionName, strings_.Add(options_.empty_stack));
    message_.Number(kFunctionSystemName, strings_.Add(options_.empty_stack));
    out_.Message(kFunction, message_);
    return {};
  }

  void WriteHeader() {
    const std::string& drop =
        options_.drop_frames.empty() ? profile_.drop_frames : options_.drop_frames;
    out_.NumberUnlessZero(kDropFrames, strings_.Add(drop));
    out_.NumberUnlessZero(kKeepFrames, strings_.Add(profile_.keep_frames));
    out_.NumberUnlessZero(kTimeNanos, static_cast<uint64_t>(profile_.time_ns));
    out_.NumberUnlessZero(kDurationNanos, static_cast<uint64_t>(profile_.duration_ns));
    if (!profile_.period_type.name.empty() || !profile_.period_type.unit.empty()) {
      WriteType(kPeriodType, profile_.period_type);
    }
    out_.NumberUnlessZero(kPeriod, static_cast<uint64_t>(profile_.period));
    for (const auto* comments : {&profile_.comments, &options_.comments}) {
      for (const std::string& comment : *comments) out_.Number(kComment, strings_.Add(comment));
    }
    if (profile_.default_type < profile_.sample_types.size()) {
      out_.Number(kDefaultSampleType,
                  strings_.Add(profile_.sample_types[profile_.default_type].name));
    }
    out_.NumberUnlessZero(kDocUrl, strings_.Add(profile_.doc_url));
    AddUnknown(Owner::kProfile, 0, &out_);
  }

  const Profile& profile_;
  const PprofWriteOptions& options_;
  TextSink* sink_;
  ProtoEncoder out_;
  ProtoEncoder message_;  // the one at hand
  ProtoEncoder part_;     // a message or packed numbers in it
  StringTable strings_;
  std::vector<char> used_locations_;
  std::vector<char> used_functions_;
  std::vector<ModuleId> mapping_order_;
  std::vector<uint64_t> mapping_ids_;  // by module
  bool has_empty_stack_ = false;
};

}  // namespace

Status WritePprof(const Profile& profile, const PprofWriteOptions& options, TextSink* out) {
  if (!options.gzip) return PprofWriting(profile, options, out).Run();
  GzipSink gzip(out);
  HG_TRY(PprofWriting(profile, options, &gzip).Run());
  return gzip.Finish();
}

}  // namespace heapgauge

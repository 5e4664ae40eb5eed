#include "core/formats/pprof/pprof_writer.h"

#include <zlib.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <unordered_map>

namespace heapgauge {
namespace {

using protozero::pbf_writer;

// Field numbers of profile.proto.
namespace field {
enum Profile : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kDropFrames = 7,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
};
}  // namespace field

class StringTable {
 public:
  StringTable() { Add(""); }
  int64_t Add(const std::string& text) {
    const auto [it, is_new] = ids_.try_emplace(text, static_cast<int64_t>(strings_.size()));
    if (is_new) strings_.push_back(&it->first);
    return it->second;
  }
  void WriteTo(pbf_writer* out) const {
    for (const std::string* text : strings_) out->add_string(field::kStringTable, *text);
  }

 private:
  std::unordered_map<std::string, int64_t> ids_;
  std::vector<const std::string*> strings_;  // keys of a node-based map do not move
};

class PprofWriting {
 public:
  PprofWriting(const Profile& profile, const PprofWriteOptions& options)
      : profile_(profile), options_(options), out_(bytes_) {}

  std::string Run() {
    WriteTypes();
    WriteSamples();
    WriteMappings();
    WriteLocations();
    WriteFunctions();
    if (!options_.drop_frames.empty()) {
      out_.add_int64(field::kDropFrames, strings_.Add(options_.drop_frames));
    }
    out_.add_int64(field::kTimeNanos, profile_.time_ns);
    out_.add_int64(field::kDurationNanos, profile_.duration_ns);
    for (const std::string& comment : profile_.comments) {
      out_.add_int64(field::kComment, strings_.Add(comment));
    }
    if (profile_.default_type < profile_.sample_types.size()) {
      out_.add_int64(field::kDefaultSampleType,
                     strings_.Add(profile_.sample_types[profile_.default_type].name));
    }
    strings_.WriteTo(&out_);  // last: by now all texts are known
    return std::move(bytes_);
  }

 private:
  void WriteType(uint32_t tag, const SampleType& type) {
    pbf_writer message(out_, tag);
    message.add_int64(1, strings_.Add(type.name));
    message.add_int64(2, strings_.Add(type.unit));
  }

  void WriteTypes() {
    for (const SampleType& type : profile_.sample_types) WriteType(field::kSampleType, type);
    WriteType(field::kPeriodType, profile_.period_type);
    out_.add_int64(field::kPeriod, profile_.period);
  }

  // Ids in the file count from 1; locations keep their order, the unknown stack gets the next id.
  void WriteSamples() {
    std::vector<LocationId> stack;
    std::vector<uint64_t> ids;
    std::vector<int64_t> values;
    used_.resize(profile_.locations.size());
    for (RowId row = 0; row < profile_.rows.size(); ++row) {
      if (!options_.selected.empty() && !options_.selected[row]) continue;
      values.clear();
      for (size_t type = 0; type < profile_.sample_types.size(); ++type) {
        values.push_back(profile_.value(row, type));
      }
      if (std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; })) continue;
      profile_.StackOf(row, &stack);
      ids.clear();
      for (const LocationId id : stack) {
        ids.push_back(uint64_t{id} + 1);
        used_[id] = true;
      }
      if (ids.empty()) {
        ids.push_back(profile_.locations.size() + 1);
        has_unknown_ = true;
      }
      pbf_writer message(out_, field::kSample);
      message.add_packed_uint64(1, ids.begin(), ids.end());
      message.add_packed_int64(2, values.begin(), values.end());
    }
  }

  void WriteMappings() {
    // Readers take the first mapping for the main program.
    std::vector<ModuleId> order;
    for (ModuleId m = 0; m < profile_.modules.size(); ++m) order.push_back(m);
    std::stable_partition(order.begin(), order.end(), [&](ModuleId m) {
      return profile_.modules[m].path == profile_.recording.program;
    });
    mapping_ids_.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const Module& module = profile_.modules[order[i]];
      mapping_ids_[order[i]] = i + 1;
      pbf_writer message(out_, field::kMapping);
      message.add_uint64(1, i + 1);
      message.add_uint64(2, module.start);
      message.add_uint64(3, module.end);
      if (module.offset != 0) message.add_uint64(4, module.offset);
      message.add_int64(5, strings_.Add(module.path));
      message.add_int64(6, strings_.Add(module.build_id));
      // Names are in the file; nobody needs to look for the binary again.
      message.add_bool(7, module.has_functions);
      message.add_bool(8, module.has_files);
      message.add_bool(9, module.has_lines);
      message.add_bool(10, module.has_inlines);
    }
  }

  void WriteLocations() {
    for (LocationId id = 0; id < profile_.locations.size(); ++id) {
      if (!used_[id]) continue;
      const Location& location = profile_.locations[id];
      pbf_writer message(out_, field::kLocation);
      message.add_uint64(1, uint64_t{id} + 1);
      if (location.module != kNone) message.add_uint64(2, mapping_ids_[location.module]);
      message.add_uint64(3, location.lookup_address());
      for (uint32_t i = 0; i < location.frame_count; ++i) {
        const Frame& frame = profile_.frames[location.first_frame + i];
        pbf_writer line(message, 4);
        line.add_uint64(1, uint64_t{frame.function} + 1);
        line.add_int64(2, frame.line);
      }
    }
    if (!has_unknown_) return;
    pbf_writer message(out_, field::kLocation);
    message.add_uint64(1, profile_.locations.size() + 1);
    pbf_writer line(message, 4);
    line.add_uint64(1, profile_.functions.size() + 1);
  }

  void WriteFunctions() {
    const auto write = [&](uint64_t id, const Function& function) {
      pbf_writer message(out_, field::kFunction);
      message.add_uint64(1, id);
      message.add_int64(2, strings_.Add(function.name));
      message.add_int64(
          3, strings_.Add(function.system_name.empty() ? function.name : function.system_name));
      message.add_int64(4, strings_.Add(function.file));
    };
    for (FunctionId id = 0; id < profile_.functions.size(); ++id) {
      write(uint64_t{id} + 1, profile_.functions[id]);
    }
    if (has_unknown_) write(profile_.functions.size() + 1, {"(unknown stack)", "", ""});
  }

  const Profile& profile_;
  const PprofWriteOptions& options_;
  std::string bytes_;
  pbf_writer out_;
  StringTable strings_;
  std::vector<bool> used_;
  std::vector<uint64_t> mapping_ids_;
  bool has_unknown_ = false;
};

Result<std::string> Gzip(const std::string& bytes) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, 3, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Fail(ErrorCode::kIo, "zlib could not be set up");
  }
  std::string packed;
  std::string chunk(1 << 18, '\0');
  size_t done = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    // avail_in is 32 bits wide, so large profiles go in by pieces.
    const size_t piece = std::min<size_t>(bytes.size() - done, size_t{1} << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + done));
    stream.avail_in = static_cast<uInt>(piece);
    const int flush = done + piece == bytes.size() ? Z_FINISH : Z_NO_FLUSH;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = deflate(&stream, flush);
    done += piece - stream.avail_in;
    packed.append(chunk.data(), chunk.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return Fail(ErrorCode::kIo, "zlib could not compress the profile");
  return packed;
}

}  // namespace

Result<std::string> WritePprof(const Profile& profile, const PprofWriteOptions& options) {
  return Gzip(PprofWriting(profile, options).Run());
}

}  // namespace heapgauge

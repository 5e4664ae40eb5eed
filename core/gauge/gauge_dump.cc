#include "core/gauge/gauge_dump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_layout.h"
#include "core/gauge/gauge_names.h"
#include "core/gauge/gauge_reader.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"

namespace heapgauge {
namespace {

constexpr uint32_t kMostNumbers = 10'000;  // tried for one that is free

// Clears in `segment` all records of a kind with sequence words that were not the same twice.
template <typename Record>
void DropUnsettled(const ByteSource& source, const GaugeLayout& layout, wire::SegmentKind kind,
                   std::string* bytes) {
  const uint32_t per_segment = layout.records_per_segment(kind);
  const uint32_t stride = layout.record_bytes(kind);
  for (uint32_t ordinal = 0; ordinal < layout.segment_count(kind); ++ordinal) {
    const auto offset = layout.SegmentOffset(kind, ordinal);
    if (!offset || *offset + wire::kSegmentBytes > bytes->size()) continue;
    for (uint32_t i = 0; i < per_segment; ++i) {
      std::memset(bytes->data() + *offset + uint64_t{i} * stride, 0, sizeof(uint64_t));
    }
  }
  ForEachStable<Record>(source, layout, kind, [&](uint32_t index, const Record& record) {
    const auto offset = layout.SegmentOffset(kind, index / per_segment);
    const uint64_t at = *offset + uint64_t{index % per_segment} * stride;
    if (at + sizeof record <= bytes->size()) {
      std::memcpy(bytes->data() + at, &record, sizeof record);
    }
  });
}

// A whole copy, with the header still as the program wrote it.
Result<std::string> CopyBytes(const std::string& from) {
  HG_ASSIGN(const File source, File::OpenForReading(from));
  constexpr int kRounds = 8;
  std::string bytes;
  for (int round = 0; round < kRounds; ++round) {
    HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(source, from));
    bytes.assign(layout.used_bytes(), '\0');
    source.ReadAt(0, bytes.data(), bytes.size());
    // Blocks first, then what they name, the header with its counts last: all it counts is in the
    // copy.
    DropUnsettled<wire::LiveRecord>(source, layout, wire::SegmentKind::kLive, &bytes);
    DropUnsettled<wire::LiveRecord>(source, layout, wire::SegmentKind::kPoolLive, &bytes);
    DropUnsettled<wire::MappingRecord>(source, layout, wire::SegmentKind::kMappings, &bytes);
    DropUnsettled<wire::TimelineRecord>(source, layout, wire::SegmentKind::kTimeline, &bytes);
    for (const wire::SegmentKind kind : {wire::SegmentKind::kStacks, wire::SegmentKind::kLabels,
                                         wire::SegmentKind::kNodes, wire::SegmentKind::kModules}) {
      for (uint32_t i = 0; i < layout.segment_count(kind); ++i) {
        if (const auto offset = layout.SegmentOffset(kind, i)) {
          source.ReadAt(*offset, bytes.data() + *offset, wire::kSegmentBytes);
        }
      }
    }
    source.ReadAt(0, bytes.data(), wire::kSegmentBytes);
    const auto copy = GaugeLayout::Read(MemorySource(bytes), from);
    if (copy) {
      HG_TRY(ReadGauge(MemorySource(bytes), from));
      return bytes;
    }
    // A file that has grown meanwhile looks cut short in the copy.
    if (copy.error().code != ErrorCode::kTruncated) return tl::unexpected<Error>(copy.error());
  }
  return Fail(ErrorCode::kUnavailable,
              "'" + Printable(from) + "' grows faster than it can be copied; try again");
}

// The copy of one gauge file, and what it says about itself.
class Copy {
 public:
  static Result<Copy> Of(const std::string& from, wire::DumpReason reason) {
    Copy copy;
    HG_ASSIGN(const GaugeSummary summary, ReadGaugeSummary(from));
    HG_ASSIGN(copy.bytes_, CopyBytes(from));
    copy.program_ = std::string(BaseName(summary.recording.program));
    std::memcpy(&copy.header_, copy.bytes_.data(), sizeof copy.header_);
    if (summary.recording.is_dump) return copy;  // stays what it is
    wire::Header& h = copy.header_;
    // What is left of a dead program is all there is: its copy says how it ended, as the file does.
    const RecordingState state = summary.recording.state;
    const bool runs = state == RecordingState::kLive;
    h.is_copy = runs || state == RecordingState::kSnapshot ? 1 : 0;
    h.dump.sequence += 1;
    h.dump.reason = static_cast<uint32_t>(reason);
    h.dump.time_ns = summary.recording.duration_ns;
    if (const auto memory = runs ? ReadProcessMemory(h.pid) : std::nullopt) {
      h.memory = *memory;
      h.memory.state = 2;
      h.memory.time_ns = h.dump.time_ns;
    }
    return copy;
  }

  wire::Header& header() { return header_; }
  const std::string& program() const { return program_; }
  std::string_view bytes() {
    std::memcpy(bytes_.data(), &header_, sizeof header_);
    return bytes_;
  }

 private:
  std::string bytes_;
  std::string program_;
  wire::Header header_{};
};

// 0 or an errno, EEXIST if there is such a file.
int RenameToNew(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (link(from.c_str(), to.c_str()) != 0) return errno;
  unlink(from.c_str());
  return 0;
}

}  // namespace

std::string DumpPlace::Name(const std::string& program, uint32_t pid, uint32_t sequence,
                            const std::string& reason) const {
  if (!prefix.empty()) return fmt::format("{}.{:04}.hg", prefix, sequence);
  const std::string name = fmt::format("{}.{}.{:04}.{}.hg", program, pid, sequence, reason);
  return directory.empty() ? name : directory + "/" + name;
}

Result<std::string> CopyGauge(const std::string& from, wire::DumpReason reason) {
  HG_ASSIGN(Copy copy, Copy::Of(from, reason));
  return std::string(copy.bytes());
}

Status DumpGauge(const std::string& from, const std::string& to, wire::DumpReason reason) {
  HG_ASSIGN(Copy copy, Copy::Of(from, reason));
  return WriteWholeFile(to, copy.bytes());
}

Result<std::string> DumpGaugeTo(const std::string& from, const DumpPlace& place,
                                wire::DumpReason reason) {
  HG_ASSIGN(Copy copy, Copy::Of(from, reason));
  wire::DumpInfo& dump = copy.header().dump;
  const uint32_t pid = copy.header().pid;
  // A name out of a foreign file must not lead elsewhere; BaseName has seen to slashes.
  const std::string program = copy.program().empty() ? "unknown" : copy.program();
  const auto name_of = [&](uint32_t sequence) {
    return place.Name(program, pid, sequence,
                      wire::DumpReasonName(static_cast<wire::DumpReason>(dump.reason)));
  };
  for (uint32_t tries = 0; tries < kMostNumbers; ++tries, ++dump.sequence) {
    const std::string path = name_of(dump.sequence);
    if (access(path.c_str(), F_OK) == 0) continue;
    const std::string temporary = path + ".tmp";
    HG_TRY(WriteWholeFile(temporary, copy.bytes()));
    const int error = RenameToNew(temporary, path);
    if (error == 0) return path;
    unlink(temporary.c_str());
    if (error != EEXIST) {
      return tl::unexpected<Error>(SystemError("cannot write '" + Printable(path) + "'", error));
    }
  }
  return Fail(ErrorCode::kUnavailable,
              "'" + Printable(name_of(dump.sequence)) + "' and all before it exist already");
}

Result<SavedGauge> SaveGauge(const std::string& path,
                             const std::function<void(Profile*)>& symbolize) {
  SavedGauge saved;
  HG_ASSIGN(saved.bytes, CopyGauge(path));
  const MemorySource copy(saved.bytes);
  GaugeReadOptions options;
  options.every_node = true;  // the stacks of the peak as well
  HG_ASSIGN(Profile profile, ReadGauge(copy, path, options));
  // Whether the program still runs decides where its files are looked for.
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(copy, path));
  FindState(layout, path, 0, &profile.recording);
  symbolize(&profile);
  saved.names = CountNames(profile);
  HG_ASSIGN(const std::string names, EncodeNames(profile));
  HG_ASSIGN(saved.bytes, WithNames(std::move(saved.bytes), names));
  return saved;
}

}  // namespace heapgauge

#include "core/recording/read_profile.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/byte_stream.h"
#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/fold/measures.h"
#include "core/formats/collapsed/collapsed.h"
#include "core/formats/dhat/dhat_reader.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/formats/heaptrack/heaptrack_reader.h"
#include "core/formats/jemalloc/jemalloc.h"
#include "core/formats/legacy/legacy_cpu_reader.h"
#include "core/formats/legacy/legacy_text_reader.h"
#include "core/formats/massif/massif_reader.h"
#include "core/formats/pprof/pprof_reader.h"
#include "core/formats/symbolized/symbolized_reader.h"
#include "core/model/profile.h"

namespace heapgauge {

// Names in a profile that somebody else wrote end on a terminal: control characters in them could
// change what it shows, or do. Readers take them as they are, and this is done once behind all of
// them.

// Replaces control characters, and bytes that are not UTF-8, in all names by '?'.
void MakePrintable(Profile* profile);

namespace {

using Reader = Result<Profile> (*)(ByteStream*, const std::string&, const ReadOptions&);
using TextReader = Result<Profile> (*)(ByteStream*, const std::string&, const TextReadOptions&);

template <TextReader kRead>
Result<Profile> ReadText(ByteStream* stream, const std::string& name, const ReadOptions& options) {
  return kRead(stream, name, options.text);
}

Result<Profile> ReadPprofProfile(ByteStream* stream, const std::string& name, const ReadOptions&) {
  return ReadPprof(stream, name);
}

Result<Profile> ReadHeaptrackProfile(ByteStream* stream, const std::string& name,
                                     const ReadOptions&) {
  return ReadHeaptrack(stream, name);
}

Result<Profile> ReadDhatProfile(ByteStream* stream, const std::string& name, const ReadOptions&) {
  return ReadDhat(stream, name);
}

Result<Profile> ReadMassifProfile(ByteStream* stream, const std::string& name,
                                  const ReadOptions& options) {
  const std::string& at = options.question.at;
  const bool peak = options.gauge.peak || options.question.value == trace::TraceValue::kPeak;
  return ReadMassif(stream, name, at.empty() && peak ? "peak" : at);
}

// One line for each format that is read from a stream.
constexpr std::pair<ProfileFormat, Reader> kReaders[] = {
    {ProfileFormat::kPprof, ReadPprofProfile},
    {ProfileFormat::kHeapText, ReadText<ReadHeapText>},
    {ProfileFormat::kJemalloc, ReadText<ReadJemalloc>},
    {ProfileFormat::kSymbolized, ReadText<ReadSymbolized>},
    {ProfileFormat::kLegacyText, ReadText<ReadLegacyText>},
    {ProfileFormat::kLegacyCpu, ReadText<ReadLegacyCpu>},
    {ProfileFormat::kHeaptrack, ReadHeaptrackProfile},
    {ProfileFormat::kDhat, ReadDhatProfile},
    {ProfileFormat::kCollapsed, ReadText<ReadCollapsed>},
    {ProfileFormat::kMassif, ReadMassifProfile},
};

tl::unexpected<Error> NotRecognized(const std::string& name, std::string_view start) {
  if (start.empty()) return Fail(ErrorCode::kTruncated, Printable(name) + ": the file is empty", 0);
  return Fail(ErrorCode::kNotRecognized,
              Printable(name) + ": byte 0: this is no profile of a format that is known here", 0);
}

// Files of others have what they have: nothing that is asked for is passed over.
Status CheckKind(const std::string& name, ProfileFormat format, const ReadOptions& options) {
  if (options.gauge.kind == ProfileKind::kHeap) return {};
  return Fail(ErrorCode::kInvalidArgument,
              Printable(name) + ": a " + FormatName(format) +
                  " does not tell mappings and pools apart; --kind is for gauge files and traces");
}

// Files with several snapshots can be asked for one of them, and many have more than one figure.
bool CanAnswer(ProfileFormat format, const trace::Question& question) {
  if (question.only_a_value()) return MayHaveValue(question.value);
  return format == ProfileFormat::kMassif ? question.only_a_moment() : question.only_peak_or_end();
}

// What is asked for besides the moment.
Status Show(const std::string& name, const trace::Question& question, bool peak, Profile* profile) {
  const Status shown =
      ShowValue(peak ? trace::TraceValue::kPeak : question.value, question.blocks, profile);
  if (shown) return {};
  return Fail(ErrorCode::kInvalidArgument, Printable(name) + ": " + shown.error().message);
}

}  // namespace

tl::unexpected<Error> NeedsTrace(const std::string& name, ProfileFormat format) {
  const std::string way =
      format == ProfileFormat::kHeaptrack
          ? "make a trace of it: heapgauge import -o FILE.hgt " + ShellWord(name)
          : "record a trace: heapgauge run --trace -o FILE.hgt -- COMMAND";
  return Fail(ErrorCode::kInvalidArgument,
              Printable(name) + ": a " + FormatName(format) +
                  " does not know moments, ranges and single blocks; " + way);
}

// Only a gauge file tells blocks of a forked process from those of its parent.
Status CheckInherited(const std::string& name, ProfileFormat format, const ReadOptions& options) {
  if (options.gauge.inherited == Inherited::kInclude) return {};
  return Fail(ErrorCode::kInvalidArgument,
              Printable(name) + ": a " + FormatName(format) +
                  " does not know which blocks came from a parent; --inherited is for gauge files");
}

// A gauge file knows its end and its peak.
Result<Profile> ReadGaugeAt(const std::string& path, const ReadOptions& options) {
  const trace::Question& question = options.question;
  if (!CanAnswer(ProfileFormat::kGauge, question)) return NeedsTrace(path, ProfileFormat::kGauge);
  GaugeReadOptions gauge = options.gauge;
  gauge.peak = gauge.peak || question.at == "peak" || question.value == trace::TraceValue::kPeak;
  HG_ASSIGN(Profile profile, ReadGaugeFile(path, gauge));
  trace::Question rest = question;
  if (gauge.peak) rest.value = trace::TraceValue::kLive;
  if (rest.any()) HG_TRY(Show(path, rest, false, &profile));
  return profile;
}

Status CheckReadable(ProfileFormat format, std::string_view start, const std::string& name,
                     const ReadOptions& options) {
  if (format == ProfileFormat::kUnknown) return NotRecognized(name, start);
  if (format == ProfileFormat::kGauge || format == ProfileFormat::kTrace) {
    return Fail(ErrorCode::kUnsupported,
                Printable(name) + ": a " + FormatName(format) +
                    " is read by position: give the path of the file itself, not compressed");
  }
  HG_TRY(CheckInherited(name, format, options));
  HG_TRY(CheckKind(name, format, options));
  if (!CanAnswer(format, options.question)) return NeedsTrace(name, format);
  return {};
}

Result<Profile> ReadStream(ByteStream* stream, ProfileFormat format, const std::string& name,
                           const ReadOptions& options) {
  for (const auto& [known, read] : kReaders) {
    if (known != format) continue;
    HG_ASSIGN(Profile profile, read(stream, name, options));
    MakePrintable(&profile);
    const trace::Question& question = options.question;
    const bool peak = options.gauge.peak || question.at == "peak";
    // Of several snapshots the one that was asked for is there, and nothing else.
    const bool done =
        format == ProfileFormat::kMassif &&
        (question.value == trace::TraceValue::kLive || question.value == trace::TraceValue::kPeak);
    if (!done && (peak || question.any())) HG_TRY(Show(name, question, peak, &profile));
    return profile;
  }
  return Fail(ErrorCode::kUnsupported,
              Printable(name) + ": a " + FormatName(format) + " is not supported");
}

Result<ProfileFormat> FormatOfFile(const std::string& path) {
  HG_ASSIGN(auto opened, OpenStream(path));
  HG_ASSIGN(auto stream, Decompressed(std::move(opened), path));
  PeekingStream peeking(std::move(stream));
  HG_ASSIGN(const std::string_view start, peeking.Peek(kFormatBytes));
  const ProfileFormat format = DetectFormat(start);
  if (format == ProfileFormat::kUnknown) return NotRecognized(path, start);
  return format;
}

Result<Profile> ReadProfile(std::unique_ptr<ByteStream> stream, const std::string& name,
                            const ReadOptions& options) {
  HG_ASSIGN(auto plain, Decompressed(std::move(stream), name));
  PeekingStream peeking(std::move(plain));
  HG_ASSIGN(const std::string_view start, peeking.Peek(kFormatBytes));
  const ProfileFormat format = DetectFormat(start);
  HG_TRY(CheckReadable(format, start, name, options));
  return ReadStream(&peeking, format, name, options);
}

namespace {

// kNone, or a number that is none, if the profile does not have it.
size_t TypeOfValue(trace::TraceValue value, bool blocks, const Profile& profile) {
  const Measures m = MeasuresOf(profile);
  switch (value) {
    case trace::TraceValue::kLive:
      return m.name != "live" ? kNone : blocks ? m.objects : m.main;
    case trace::TraceValue::kAllocated:
      if (m.name == "allocated") return blocks ? m.objects : m.main;
      return blocks ? m.allocated_objects : m.allocated;
    case trace::TraceValue::kPeak:
      return profile.FindType(blocks ? "peak_objects" : "peak_space");
    case trace::TraceValue::kTemporary:
      return profile.FindType(blocks ? "temporary_objects" : "temporary_space");
    default:
      return kNone;
  }
}

}  // namespace

bool MayHaveValue(trace::TraceValue value) {
  switch (value) {
    case trace::TraceValue::kLive:
    case trace::TraceValue::kAllocated:
    case trace::TraceValue::kFreed:
    case trace::TraceValue::kPeak:
    case trace::TraceValue::kTemporary:
      return true;
    default:
      return false;
  }
}

Status ShowValue(trace::TraceValue value, bool blocks, Profile* profile) {
  if (value == trace::TraceValue::kFreed) return AddFreed(blocks, profile);
  size_t type = TypeOfValue(value, blocks, *profile);
  if (type >= profile->sample_types.size() && !blocks) {
    // heaptrack counts what is temporary, and does not add up its bytes.
    type = TypeOfValue(value, true, *profile);
  }
  if (type >= profile->sample_types.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "this profile does not tell what was " +
                    std::string(value == trace::TraceValue::kPeak ? "live at its peak"
                                                                  : trace::ValueName(value)) +
                    (blocks ? ", in blocks" : "") +
                    "; a trace does: heapgauge run --trace -o FILE.hgt -- COMMAND");
  }
  profile->default_type = type;
  return {};
}

namespace {

void Clean(std::string* text) {
  const bool is_plain =
      std::all_of(text->begin(), text->end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (!is_plain) *text = Printable(*text);
}

void CleanLines(std::string* text) {
  std::string clean;
  for (size_t at = 0; at <= text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    std::string line = text->substr(at, end - at);
    Clean(&line);
    clean += line;
    if (end < text->size()) clean += '\n';
    at = end + 1;
  }
  *text = std::move(clean);
}

}  // namespace

void MakePrintable(Profile* profile) {
  for (Function& function : profile->functions) {
    Clean(&function.name);
    Clean(&function.system_name);
    Clean(&function.file);
  }
  for (Module& module : profile->modules) {
    Clean(&module.path);
    Clean(&module.build_id);
  }
  for (SampleType& type : profile->sample_types) {
    Clean(&type.name);
    Clean(&type.unit);
  }
  Clean(&profile->period_type.name);
  Clean(&profile->period_type.unit);
  for (std::string& text : profile->strings) Clean(&text);
  for (std::string& comment : profile->comments) CleanLines(&comment);
  Clean(&profile->recording.program);
  for (std::string& argument : profile->recording.command_line) Clean(&argument);
}

}  // namespace heapgauge

#include "core/recording/read_profile.h"

#include <utility>

#include "core/base/peeking_stream.h"
#include "core/base/shell_word.h"
#include "core/base/text.h"
#include "core/formats/collapsed/collapsed_reader.h"
#include "core/formats/dhat/dhat_reader.h"
#include "core/formats/heap_text/heap_text_reader.h"
#include "core/formats/heaptrack/heaptrack_reader.h"
#include "core/formats/jemalloc/jemalloc_reader.h"
#include "core/formats/legacy/legacy_cpu_reader.h"
#include "core/formats/legacy/legacy_text_reader.h"
#include "core/formats/massif/massif_reader.h"
#include "core/formats/pprof/pprof_reader.h"
#include "core/formats/symbolized/symbolized_reader.h"
#include "core/recording/printable_profile.h"
#include "core/recording/shown_value.h"

namespace heapgauge {
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

}  // namespace heapgauge

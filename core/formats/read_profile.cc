#include "core/formats/read_profile.h"

#include <sys/stat.h>

#include <utility>

#include "core/base/peeking_stream.h"
#include "core/base/read_ahead.h"
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

namespace heapgauge {
namespace {

constexpr size_t kStart = 4096;  // bytes that tell the format

using Reader = Result<Profile> (*)(ByteStream*, const std::string&, const ReadOptions&);

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

// One line for each format that is read from a stream.
constexpr std::pair<ProfileFormat, Reader> kReaders[] = {
    {ProfileFormat::kPprof, ReadPprofProfile},
    {ProfileFormat::kHeapText, ReadHeapText},
    {ProfileFormat::kJemalloc, ReadJemalloc},
    {ProfileFormat::kSymbolized, ReadSymbolized},
    {ProfileFormat::kLegacyText, ReadLegacyText},
    {ProfileFormat::kLegacyCpu, ReadLegacyCpu},
    {ProfileFormat::kHeaptrack, ReadHeaptrackProfile},
    {ProfileFormat::kDhat, ReadDhatProfile},
    {ProfileFormat::kCollapsed, ReadCollapsed},
    {ProfileFormat::kMassif, ReadMassif},
};

tl::unexpected<Error> NotRecognized(const std::string& name, std::string_view start) {
  if (start.empty()) return Fail(ErrorCode::kTruncated, Printable(name) + ": the file is empty", 0);
  return Fail(ErrorCode::kNotRecognized,
              Printable(name) + ": byte 0: this is no profile of a format that is known here", 0);
}

Result<Profile> Dispatch(std::unique_ptr<ByteStream> stream, const std::string& name,
                         const ReadOptions& options) {
  PeekingStream peeking(std::move(stream));
  HG_ASSIGN(const std::string_view start, peeking.Peek(kStart));
  const ProfileFormat format = DetectFormat(start);
  if (format == ProfileFormat::kUnknown) return NotRecognized(name, start);
  if (format == ProfileFormat::kGauge) {
    return Fail(ErrorCode::kUnsupported, Printable(name) +
                                             ": a gauge file is read by position: give the path "
                                             "of the file itself, not compressed");
  }
  for (const auto& [known, read] : kReaders) {
    if (known == format) return read(&peeking, name, options);
  }
  return Fail(ErrorCode::kUnsupported,
              Printable(name) + ": a " + FormatName(format) + " is not supported");
}

bool IsRegularFile(const std::string& path) {
  struct stat st {};
  return path != "-" && stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

}  // namespace

Result<Profile> ReadProfileFile(const std::string& path, const ReadOptions& options) {
  const std::string name = path == "-" ? "standard input" : path;
  HG_ASSIGN(auto opened, OpenStream(path));
  auto peeking = std::make_unique<PeekingStream>(std::move(opened));
  HG_ASSIGN(const std::string_view start, peeking->Peek(kStart));
  if (DetectFormat(start) == ProfileFormat::kGauge && IsRegularFile(path)) {
    return ReadGaugeFile(path, options.gauge);
  }
  HG_ASSIGN(auto stream, Decompressed(std::move(peeking), name));
  // A pipe may stall for ever, and then nobody could stop the thread that waits for it.
  if (IsRegularFile(path)) stream = ReadAhead(std::move(stream));
  return Dispatch(std::move(stream), name, options);
}

Result<Profile> ReadProfile(std::unique_ptr<ByteStream> stream, const std::string& name,
                            const ReadOptions& options) {
  HG_ASSIGN(auto plain, Decompressed(std::move(stream), name));
  return Dispatch(std::move(plain), name, options);
}

}  // namespace heapgauge

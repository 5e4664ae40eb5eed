// Reads a profile of any format from its bytes; recording.h opens files, processes and servers.
// Which format it is, the contents tell, never a name.
//
// Every reader treats its input as hostile: an error is one line with format, name and the byte or
// line where it was noticed; time and memory are bounded by the size of the input.
#pragma once

#include <memory>
#include <string>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/formats/text/text_profile.h"
#include "core/gauge/gauge_reader.h"
#include "core/model/profile.h"
#include "core/trace/answer/trace_profile.h"
#include "core/trace/answer/trace_question.h"

namespace heapgauge {

// Bytes that tell the format.
inline constexpr size_t kFormatBytes = 4096;

enum class ProfileFormat {
  kUnknown,
  kGauge,
  kTrace,       // every allocation and free: heapgauge run --trace
  kPprof,       // profile.proto
  kHeapText,    // gperftools, tcmalloc and Go: "heap profile: ..."
  kJemalloc,    // "heap_v2/524288"
  kSymbolized,  // "--- symbol", then one of the text formats
  kLegacyText,  // contention and thread profiles of the same family
  kLegacyCpu,   // binary CPU profiles of gperftools and old Go
  kHeaptrack,   // interpreted or raw
  kDhat,        // JSON of valgrind's DHAT and of dhat-rs
  kCollapsed,
  kMassif,  // massif.out
};
// "pprof protobuf", "jemalloc heap profile", ...
const char* FormatName(ProfileFormat format);

// By the first bytes after decompression; a few hundred are enough.
ProfileFormat DetectFormat(std::string_view start);

// What a file is, compressed or not. If that cannot be told, the Error that reading it would give.
Result<ProfileFormat> FormatOfFile(const std::string& path);

struct ReadOptions {
  GaugeReadOptions gauge;
  TextReadOptions text;
  // Which moment, range and blocks, of a trace; files with snapshots know moments too. Others fail
  // if something is asked that only a trace can answer.
  trace::Question question;
  trace::NameStacks name_stacks;     // for questions about names
  ProgressSink* progress = nullptr;  // of a trace
};

// From bytes that came from somewhere else. `name` is for messages. Not for gauge files
// and traces, which are read by position.
Result<Profile> ReadProfile(std::unique_ptr<ByteStream> stream, const std::string& name,
                            const ReadOptions& options = {});

// The parts of it, for who knows the format already. Fails if the options ask for what files of the
// format do not know, or if `start`, the first bytes, are those of no profile.
Status CheckReadable(ProfileFormat format, std::string_view start, const std::string& name,
                     const ReadOptions& options);
Status CheckInherited(const std::string& name, ProfileFormat format, const ReadOptions& options);
// REQUIRES: CheckReadable().
Result<Profile> ReadStream(ByteStream* stream, ProfileFormat format, const std::string& name,
                           const ReadOptions& options);
Result<Profile> ReadGaugeAt(const std::string& path, const ReadOptions& options);
// Why a file of that format does not tell what only a trace does.
tl::unexpected<Error> NeedsTrace(const std::string& name, ProfileFormat format);

// Which figure of a profile is meant by a word that is made for traces ("allocated", "peak",
// "freed"): profiles of other kinds have some of them, as sample types of their own.
//
// Pure functions.

// Whether a profile that is none of a trace may have it at all.
bool MayHaveValue(trace::TraceValue value);

// Makes it the default type, counted in blocks in place of bytes if that is asked for. Fails if
// the profile does not have it; the message goes behind a name.
Status ShowValue(trace::TraceValue value, bool blocks, Profile* profile);

}  // namespace heapgauge

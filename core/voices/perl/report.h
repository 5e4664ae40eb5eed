// The reports of the perl tools jeprof (jemalloc) and google-pprof (gperftools), byte for byte, but
// for the differences that docs/perl-tools.md lists.
//
// The way of a report:
//
//   read with TextReadOptions.dialect (jeprof: kJeprof; google-pprof: kGooglePprof), and
//   .thread = "*" if --thread is given
//   MergeProfiles()             if there are several
//   perl::WriteReport()         or perl::Session for a shell
//
// Profiles come without names: the tools get them in ways of their own, from nm and addr2line,
// which image.h follows. Names that a profile brings along (symbolized text, protobuf) are used.
//
// Output is streamed to `out`; what the tools tell on standard error goes to `err`, each line
// ended. Single-threaded. Input is untrusted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"
#include "core/symbolize/symbolizer.h"
#include "core/voices/perl/options.h"

namespace heapgauge::perl {

struct SessionState;

// A profile with its names, which are looked up once, for any number of reports.
class Session {
 public:
  // `base` is subtracted. Options that matter here are the tool, the program, and where to look for
  // files; they must not change from report to report.
  Session(Profile profile, std::optional<Profile> base, const Options& options,
          const SymbolizeOptions& symbolize);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Fails on a bad regular expression, and where the tool ends with an error because there is
  // nothing to show. With --thread the rows carry the label "thread", and the reports of the
  // threads that were asked for come one after the other.
  Status Write(const Options& options, TextSink* out, TextSink* err);

 private:
  std::unique_ptr<SessionState> state_;
};

// For a single report. `base` may be null.
Status WriteReport(const Profile& profile, const Profile* base, const Options& options,
                   const SymbolizeOptions& symbolize, TextSink* out, TextSink* err);

// --symbols: `input` has lines as in /proc/PID/maps and addresses (0x...), in any order; writes the
// short name of each address. options.program must be set.
Status WriteSymbols(std::string_view input, const Options& options,
                    const SymbolizeOptions& symbolize, TextSink* out, TextSink* err);

// What the tool says on standard error while it reads a profile: how sampled counts are adjusted.
// `first_line` is the header of a text profile; "" if there is nothing to say.
std::string Announcement(std::string_view first_line);

// "MB", "B", "objects", "seconds" or "samples".
const char* Units(const Profile& profile, const Options& options);

}  // namespace heapgauge::perl

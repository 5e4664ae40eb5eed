// The reports of the perl tools jeprof (jemalloc) and google-pprof (gperftools), byte for byte, but
// for the differences that docs/perl-tools.md lists.
//
// The way of a report:
//
//   read with ReadOptions.dialect (jeprof: kJeprof; google-pprof: kGooglePprof) and .thread
//   MergeProfiles()             if there are several
//   perl::Prepare()             the profile, and the base if there is one
//   Symbolize()                 both
//   perl::WriteReport()
//
// In the shell the first four are done once and the last for each command, with in_shell set.
//
// Output is streamed to `out`; what the tools tell on standard error goes to `err`, each line
// ended. Single-threaded. Input is untrusted.
#ifndef HEAPGAUGE_CORE_PERL_REPORT_H_
#define HEAPGAUGE_CORE_PERL_REPORT_H_

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/model/profile.h"
#include "core/perl/options.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge::perl {

// The tools take the innermost address of a stack as it is, and the others as return addresses.
// Profiles have one rule for an address wherever it stands, so the innermost become locations of
// their own. Must come before Symbolize(): names belong to the address that is looked up.
void Prepare(const Options& options, Profile* profile);

// `base` is subtracted; null: none. An error in a regular expression, or a report that would be
// empty where the tool fails, is an error. With --thread=* (or a number) the profile's rows carry
// the label "thread" and one report comes after the other.
Status WriteReport(const Profile& profile, const Profile* base, const Options& options,
                   TextSink* out, TextSink* err);

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

#endif  // HEAPGAUGE_CORE_PERL_REPORT_H_

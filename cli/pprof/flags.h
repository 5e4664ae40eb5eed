// The command lines of pprof and of the perl tools jeprof and google-pprof. A parser of its own,
// because their flags are not the usual ones: one dash or two, a value behind "=" or as the next
// word, switches that take "=false", flags behind the sources.
//
// Whose words they are: pprof's, unless
//   - --jeprof, --google-pprof or --perl says otherwise,
//   - the command is called by a name that ends in jeprof or google-pprof (a link to it), or
//   - a flag is given that only the perl tools have (--show_bytes, --lib_prefix, ...).
// If it is not said which of the perl tools: jeprof where a flag exists only there or where a
// profile is jemalloc's, otherwise google-pprof.
//
// Pure but for one thing: whether the first of several words is a program is seen in the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/pprof/source_options.h"
#include "core/base/result.h"
#include "core/voices/perl/options.h"
#include "core/voices/pprof/words/commands.h"
#include "core/voices/pprof/words/settings.h"

namespace heapgauge::cli {

enum class Dialect {
  kPprof,
  kPerl,  // one of the perl tools; the profile decides which
  kJeprof,
  kGooglePprof,
};

struct PprofCommandLine {
  bool help = false;
  bool version = false;
  Dialect dialect = Dialect::kPprof;
  PprofSourceOptions source;

  // pprof's words. No command: the shell.
  pprof::Settings settings;
  const pprof::ReportCommand* command = nullptr;
  std::string pattern;
  std::string http;

  // The perl tools' words. No report: the shell on a terminal, otherwise text.
  perl::Options perl;
  bool perl_report_given = false;
  bool perl_interactive = false;

  std::vector<std::string> warnings;  // a line each, for standard error
};

// `called_as` is the name of the command, argv[0].
Result<PprofCommandLine> ParsePprofFlags(const std::vector<std::string>& arguments,
                                         const std::string& called_as);

// What `heapgauge pprof --help` prints.
std::string PprofHelp();

}  // namespace heapgauge::cli

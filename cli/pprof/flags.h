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

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/voices/perl/options.h"
#include "core/voices/pprof/words/settings.h"

namespace heapgauge::cli {

// Tells the user a line while the command works.
using Say = std::function<void(const std::string&)>;

// Where the profile of a command comes from and how its addresses become names. Plain data.
struct PprofSourceOptions {
  std::vector<std::string> sources;  // files, PIDs, gauge directories, URLs
  std::vector<std::string> bases;
  bool diff_base = false;  // the bases are labelled pprof::base
  bool normalize = false;
  std::string program;   // overrides that of the profile
  std::string build_id;  // the same
  std::string symbolize;
  std::string comment;      // to be added
  bool all_frames = false;  // ignore the profile's drop_frames and keep_frames
  int seconds = -1;
  int timeout = -1;
  std::string tools;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
};

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

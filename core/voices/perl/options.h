// What jeprof and google-pprof let their users choose, under their names.
//
// Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace heapgauge::perl {

enum class Tool { kJeprof, kGooglePprof };

enum class Report {
  kText,
  kSymbols,  // WriteSymbols(), not WriteReport()
  kRaw,
  kCollapsed,
  kList,     // `pattern`
  kWeblist,  // `pattern`; the web page of the shell's "weblist"
  kDisasm,   // `pattern`
  kDot,
  kCallgrind,
  // The rest is a drawing of the dot report. WriteReport() writes the dot text that the tools hand
  // to the program "dot", which is not the same for all of them, and the caller draws it.
  kPs,
  kPdf,
  kSvg,
  kGif,
  kGv,
  kEvince,
  kWeb,
};

enum class Grain { kFunctions, kLines, kFiles, kAddresses };

enum class HeapValue { kInuseSpace, kInuseObjects, kAllocSpace, kAllocObjects };

enum class DelayValue { kTotalDelay, kContentions, kMeanDelay };

struct Options {
  Tool tool = Tool::kJeprof;
  Report report = Report::kText;
  std::string pattern;  // of --list and --disasm
  std::string program;  // as the user gave it; titles show it, and pieces of code that no mapping
                        // covers belong to it

  bool cum = false;
  Grain grain = Grain::kFunctions;  // --list, --disasm and --symbols go by addresses in any case
  HeapValue heap_value = HeapValue::kInuseSpace;
  DelayValue delay_value = DelayValue::kTotalDelay;
  bool show_bytes = false;
  bool drop_negative = false;

  // Regular expressions; "" none.
  std::string focus;
  std::string ignore;
  std::string retain;   // jeprof
  std::string exclude;  // jeprof

  int64_t node_count = 80;
  double node_fraction = 0.005;
  double edge_fraction = 0.001;
  int64_t max_degree = 8;
  bool heapcheck = false;
  int64_t scale = 0;  // of the viewer gv

  std::string thread;                  // jeprof: "" the sum of all, "*" each, or one number
  bool stacks = false;                 // google-pprof, with --text
  bool no_strip_temp = false;          // google-pprof: template arguments stay
  bool show_addresses = false;         // google-pprof
  bool no_auto_signal_frames = false;  // google-pprof

  std::string lib_prefix;  // directories, separated by commas
  std::string add_lib;
  std::string tools;              // prefix or binary:path, separated by commas
  bool debug_syms_by_id = false;  // jeprof; ours always looks there

  // One command of the interactive shell. The header then says what was focused on and ignored.
  bool in_shell = false;
  int64_t line_limit = -1;   // "top20"; -1 all
  std::string shell_focus;   // joined by "|" from several words
  std::string shell_ignore;  // the same, of words that begin with "-"
};

}  // namespace heapgauge::perl

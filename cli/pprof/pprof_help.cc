// The help of `heapgauge pprof`: made from the tables of reports and options, so that it is
// complete.

#include <string>

#include "cli/pprof/flags.h"

namespace heapgauge::cli {
namespace {

constexpr const char* kHead = R"(Usage: heapgauge pprof FLAGS... [PROGRAM] SOURCE...

Reports on profiles with the flags and the output of pprof, and of the perl tools jeprof and
google-pprof. Without a report among the flags it is an interactive shell.

Examples:
  heapgauge pprof -top 4242                          a process that heapgauge profiles
  heapgauge pprof -top -cum -focus=Parse heap.pb.gz  only stacks through Parse
  heapgauge pprof -top ./server jeprof.1.heap        jemalloc's and gperftools' files as well
  heapgauge pprof -top http://localhost:6060/debug/pprof/heap
  heapgauge pprof -diff_base=old.pb.gz -top new.pb.gz
  heapgauge pprof -svg -output=heap.svg heap.pb.gz
  heapgauge pprof --text --show_bytes ./server jeprof.1.heap    as jeprof prints it
  heapgauge pprof heap.pb.gz                         the shell

Flags have one dash or two; values follow "=" or are the next word: -focus=x, --focus x. Switches
also take =true and =false.

SOURCE is a file of any supported format, a PID, a directory with one gauge file, host:port or a
URL (http, https, https+insecure). Several are added up. A server without a path is asked for
/debug/pprof/profile. PROGRAM is the executable, if the one that the profile names is not here.
)";

constexpr const char* kSource = R"(
Where profiles and names come from:
    -base=SOURCE      Subtract this profile (may be repeated)
    -diff_base=SOURCE Compare with this profile: percentages are of its total
    -seconds=N        How long a server shall record
    -timeout=N        How many seconds to wait for a server
    -buildid=ID       Build-id of the program, in place of the profile's
    -add_comment=TEXT Add a remark to the profile
    -all_frames       Do not leave out the frames that the profile asks to
    -symbolize=HOW    Names: local, fastlocal (functions only), remote (ask the server), none;
                      then :force (again where there are names), :demangle=none, full, templates,
                      default
    -tools=PATH       Taken for compatibility; heapgauge reads symbols itself
    -tls_cert=FILE    Certificate, ...
    -tls_key=FILE     ... key ...
    -tls_ca=FILE      ... and authorities for https

More:
    -inuse_space, -inuse_objects, -alloc_space, -alloc_objects,
    -contentions, -total_delay, -mean_delay     short for -sample_index=...
    -http=HOST:PORT, -no_browser                pages in a browser (not there yet)
    -help, -version

Environment: PPROF_TMPDIR (where fetched profiles are kept, ~/pprof), PPROF_BINARY_PATH (where
programs are looked for, by name or build-id), BROWSER, PAGER.

The perl tools. Whose words a command line speaks: pprof's, unless --jeprof, --google-pprof or --perl
is given, heapgauge is called by a name that ends in jeprof or google-pprof (a link), or one of the
flags below is used that pprof does not have. If it is open which tool is meant, it is jeprof for
jemalloc's profiles and google-pprof for others.
    --show_bytes --maxdegree=N --heapcheck --scale=N --lib_prefix=DIR,...
    --add_lib=FILE --collapsed --symbols --interactive                       both
    --thread=N or '*' --retain=RE --exclude=RE --debug-syms-by-id            jeprof
    --stacks --no_strip_temp --show_addresses --no-auto-signal-frm           google-pprof
    and, as in pprof: --text --cum --list --disasm --dot --ps --pdf --svg --gif --gv --evince
    --web --callgrind --raw --functions --lines --files --addresses --base --focus --ignore
    --drop_negative --nodecount --nodefraction --edgefraction --inuse_space ... --seconds --tools

Exit codes: 0 done, 2 bad usage or unreadable input, with one line that says why.
)";

std::string FirstLine(const char* text) {
  const std::string all = text;
  return all.substr(0, all.find('\n'));
}

std::string Row(const std::string& left, const std::string& right) {
  std::string row = "    " + left;
  row.append(row.size() < 21 ? 22 - row.size() : 1, ' ');
  return row + right + "\n";
}

}  // namespace

std::string PprofHelp() {
  std::string text = kHead;
  text += "\nReports (one of them):\n";
  for (const pprof::ReportCommand& command : pprof::AllCommands()) {
    text += Row("-" + std::string(command.name) + (command.takes_pattern ? "=RE" : ""),
                command.summary);
  }
  text += "\nOptions of reports:\n";
  for (const pprof::Setting& setting : pprof::AllSettings()) {
    if (setting.type == pprof::SettingType::kChoice) continue;
    const char* value = setting.type == pprof::SettingType::kSwitch ? ""
                        : setting.type == pprof::SettingType::kText ? "=..."
                                                                    : "=N";
    text += Row("-" + std::string(setting.name) + value, FirstLine(setting.help));
  }
  for (const pprof::Setting& setting : pprof::AllSettings()) {
    if (setting.type != pprof::SettingType::kChoice) continue;
    text += "\n" + FirstLine(setting.help) + " (one of them):\n";
    for (const char* choice : setting.choices) {
      text += Row("-" + std::string(choice), FirstLine(pprof::SettingHelp(choice)));
    }
  }
  return text + kSource;
}

}  // namespace heapgauge::cli

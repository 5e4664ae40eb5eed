// save: a profile with its names inside, to be read on another machine.

#include <fmt/format.h>

#include <memory>

#include "cli/cli.h"
#include "cli/source.h"
#include "cli/symbol_options.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/gauge/gauge_save.h"
#include "core/trace/trace_file.h"

namespace heapgauge::cli {
namespace {

struct SaveOptions {
  std::string source;
  std::string pick;
  std::string output;
  SymbolOptions symbols;
};

constexpr size_t kStart = 64;  // bytes that tell a trace

int Save(const SaveOptions& options) {
  const auto path = ResolveSource(options.source, options.pick);
  if (!path) return FailWith(path.error());
  if (const auto start = ReadWholeFile(*path, kStart); start && trace::IsTrace(*start)) {
    return FailWith("'" + Printable(*path) +
                    "' is a trace, not a gauge file; heapgauge proto -o FILE keeps a moment or "
                    "range of it with all names (--at, --from, --to)");
  }
  std::vector<std::string> notes;
  const auto saved = SaveGauge(
      *path, [&](Profile* profile) { notes = NameLocations(options.symbols, profile).notes; });
  if (!saved) return FailWith(saved.error());
  if (const Status status = WriteWholeFile(options.output, saved->bytes); !status) {
    return FailWith(status.error());
  }
  const uint64_t all = saved->named + saved->open;
  std::string text = fmt::format(
      "wrote {} ({}): {} of {} code addresses have names, {} also lines\n",
      Printable(options.output), FormatBytes(static_cast<double>(saved->bytes.size())),
      FormatCount(static_cast<double>(saved->named)), FormatCount(static_cast<double>(all)),
      FormatCount(static_cast<double>(saved->placed)));
  for (const std::string& note : notes) text += "note: " + note + "\n";
  text += "It needs none of the binaries. On any machine: heapgauge top " +
          std::string(BaseName(Printable(options.output))) + "\n";
  return PrintOut(text);
}

}  // namespace

void AddSave(Command app, Action* action) {
  auto options = std::make_shared<SaveOptions>();
  Command sub = app.Sub("save", "write a profile with its names inside");
  sub.Footer(R"(
Copies the gauge file as it is at this moment and puts the names of its functions, lines and inlined
calls into the copy. It can be read where the program's binaries are not.

Examples:
  heapgauge save -o before.hg 4242
  heapgauge save -o for-my-colleague.hg server.4242.hg)");
  sub.Add("SOURCE", &options->source, "gauge file, PID, or directory with one gauge file")
      .Required();
  sub.Add("--pick", &options->pick, "which file of a directory: newest or oldest")
      .OneOf({"newest", "oldest"});
  sub.Add("-o,--output", &options->output, "the file to write").Required();
  AddSymbolOptions(sub, &options->symbols);
  sub.OnChosen([=] { *action = [=] { return Save(*options); }; });
}

}  // namespace heapgauge::cli

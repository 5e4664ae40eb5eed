// save: a profile with its names inside, to be read on another machine.

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <vector>

#include "cli/cli.h"
#include "cli/report_options.h"
#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/gauge/gauge_dump.h"
#include "core/recording/recording.h"
#include "core/trace/file/save_trace.h"

namespace heapgauge::cli {
namespace {

struct SaveOptions {
  std::string source;
  std::string pick;
  std::string output;
  SymbolOptions symbols;
};

// The copy may be of either kind.
Result<trace::SavedTrace> WriteCopy(const std::string& path, const std::string& output,
                                    const std::function<void(Profile*)>& symbolize) {
  if (FormatAt(path) == ProfileFormat::kTrace) return trace::SaveTrace(path, output, symbolize);
  HG_ASSIGN(const SavedGauge saved, SaveGauge(path, symbolize));
  HG_TRY(WriteWholeFile(output, saved.bytes));
  return trace::SavedTrace{saved.bytes.size(), saved.names, {}};
}

int Save(const SaveOptions& options) {
  const auto source = MeantTrace(options.source, options.pick);
  if (!source) return FailWith(source.error());
  const auto path = LocateFile(*source, options.pick);
  if (!path) return FailWith(path.error());
  std::vector<std::string> notes;
  const auto saved = WriteCopy(*path, options.output, [&](Profile* profile) {
    notes = NameLocations(options.symbols, profile).notes;
  });
  if (!saved) return FailWith(saved.error());
  notes.insert(notes.begin(), saved->notes.begin(), saved->notes.end());
  const uint64_t all = saved->names.named + saved->names.open;
  std::string text = fmt::format(
      "wrote {} ({}): {} of {} code addresses have names, {} also lines\n",
      Printable(options.output), FormatBytes(static_cast<double>(saved->bytes)),
      FormatCount(static_cast<double>(saved->names.named)), FormatCount(static_cast<double>(all)),
      FormatCount(static_cast<double>(saved->names.placed)));
  for (const std::string& note : notes) text += "note: " + note + "\n";
  text += "It needs none of the binaries. On any machine: heapgauge top " +
          ShellWord(BaseName(options.output)) + "\n";
  return PrintOut(text);
}

void DescribeSave(Command sub, Action* action) {
  auto options = std::make_shared<SaveOptions>();
  sub.Footer(R"(
Copies the gauge file or trace as it is at this moment and puts the names of its functions, lines and inlined
calls into the copy. It can be read where the program's binaries are not.

Examples:
  heapgauge save -o before.hg 4242
  heapgauge save -o for-my-colleague.hg server.4242.hg
  heapgauge save -o for-my-colleague.hgt server.4242.hgt)");
  sub.Add("SOURCE", &options->source, "gauge file, trace, PID, or directory with one gauge file")
      .Required();
  sub.Add("--pick", &options->pick, "which file of a directory: newest or oldest")
      .OneOf({"newest", "oldest"});
  sub.Add("-o,--output", &options->output, "the file to write").Required();
  AddSymbolOptions(sub, &options->symbols);
  sub.OnChosen([=] { *action = [=] { return Save(*options); }; });
}

}  // namespace

const CommandEntry kSaveCommand = {"save", "write a profile with its names inside", DescribeSave};

}  // namespace heapgauge::cli

// import: a trace out of another tool's recording.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "core/base/byte_stream.h"
#include "core/base/encode.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/elf/elf_file.h"
#include "core/formats/heaptrack/heaptrack_import.h"
#include "core/recording/recording.h"
#include "core/report/value_text.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::cli {
namespace {

using figures::Count;

struct ImportOptions {
  std::string source;
  std::string output;
  bool replace = false;
};

std::string BuildIdOf(const std::string& path) {
  if (path.empty() || path.front() != '/') return "";
  const auto file = ElfFile::Open(path);
  return file ? (*file)->build_id() : "";
}

std::string Summary(const HeaptrackImport& import, uint64_t bytes, const std::string& output) {
  std::string text =
      fmt::format("wrote {} ({}): {} allocations, {} frees, {} live at the end\n",
                  Printable(output), FormatBytes(static_cast<double>(bytes)),
                  Count(import.allocations), Count(import.frees), Count(import.live));
  const auto note = [&](uint64_t count, const char* what) {
    if (count > 0) text += fmt::format("note: {} {}\n", Count(count), what);
  };
  note(import.facts.unknown_frees, "frees of blocks that the file does not know, left out");
  note(import.facts.missed_frees, "blocks ended when their address was handed out again");
  note(
      import.guessed_frees,
      "frees could be of several blocks with the same size and stack, and the oldest was taken: an "
      "interpreted file has no addresses; heaptrack --raw has");
  if (import.outcome.breaks_off) {
    text += "note: the file breaks off within its compressed data; what is before that is here\n";
  }
  if (import.outcome.cut) text += "note: the last line of the file is cut\n";
  return text + "Now, for example: heapgauge top --at peak " + ShellWord(output) + "\n";
}

// Where a trace goes that takes the place of what is there. Links stay.
Result<PlacedFile> Replacement(const std::string& output) {
  std::error_code ignored;
  const auto canonical = std::filesystem::canonical(output, ignored);
  const std::string path = ignored ? output : canonical.string();
  const auto old = trace::TraceFile::Open(path);
  if (old && (*old)->facts().being_written) {
    return Fail(ErrorCode::kUnavailable,
                "the trace '" + Printable(output) +
                    "' is being written by a recorder: give this one another name (-o)");
  }
  return PlacedFile::Create(path);
}

Result<std::string> ImportFile(const ImportOptions& options) {
  const std::string name = options.source == "-" ? "standard input" : options.source;
  if (options.output == "-") {
    return Fail(ErrorCode::kInvalidArgument,
                "-o: a trace is read by position and cannot go into a pipe; name a file");
  }
  HG_ASSIGN(Recording recording, Recording::OpenFile(options.source));
  if (recording.format() != ProfileFormat::kHeaptrack) {
    return Fail(ErrorCode::kNotRecognized,
                Printable(name) +
                    ": not a heaptrack file, and no other recording has the events of a trace; "
                    "reports read profiles as they are");
  }
  std::optional<PlacedFile> replacement;
  if (options.replace) {
    HG_ASSIGN(replacement, Replacement(options.output));
  }
  const std::string path = replacement ? replacement->written_path() : options.output;
  HG_ASSIGN(const auto stream, recording.Bytes());
  HG_ASSIGN(const auto writer,
            trace::TraceWriter::Create(path, trace::Facts(), trace::TraceWriter::Options(),
                                       /*replace=*/options.replace));
  HeaptrackImportOptions how;
  how.build_id_of = BuildIdOf;
  how.progress = BeginProgress();
  const auto import = ImportHeaptrack(stream.get(), name, how, writer.get());
  if (!import) {
    // Half a trace would look like a whole one.
    if (!replacement) unlink(path.c_str());
    return tl::unexpected<Error>(import.error());
  }
  if (replacement) HG_TRY(replacement->Place());
  return Summary(*import, writer->bytes_written(), options.output);
}

int Import(const ImportOptions& options) {
  const auto text = ImportFile(options);
  EndProgress();
  return text ? PrintOut(*text) : FailWith(text.error());
}

void DescribeImport(Command sub, Action* action) {
  auto options = std::make_shared<ImportOptions>();
  sub.Footer(R"(
Makes a trace (.hgt) of a data file of heaptrack, so that all reports on traces work on it. Best are
raw files (heaptrack --raw), which tell the address of each block. In interpreted ones, which of
several blocks with the same size and stack was freed is not known; the oldest is taken, so that
their lifetimes are a guess. Times are in steps of 10 ms, and threads are not known.

Reports also read such files without this, as profiles.

Example:
  heapgauge import -o server.hgt heaptrack.server.4242.raw.zst)");
  sub.Add("FILE", &options->source, "data file of heaptrack, - for standard input").Required();
  sub.Add("-o,--output", &options->output, "the trace to write").Required();
  sub.Flag("--replace", &options->replace, "overwrite a file that is there");
  sub.OnChosen([=] { *action = [=] { return Import(*options); }; });
}

}  // namespace

const CommandEntry kImportCommand = {"import", "make a trace of heaptrack's recording",
                                     DescribeImport};

}  // namespace heapgauge::cli

// import: a trace out of another tool's recording.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "core/base/byte_stream.h"
#include "core/base/peeking_stream.h"
#include "core/base/text.h"
#include "core/formats/heaptrack/heaptrack_import.h"
#include "core/report/figures.h"
#include "core/symbolize/elf_file.h"
#include "core/trace/trace_file.h"

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
  if (import.outcome.cut) text += "note: the last line of the file is cut\n";
  return text + "Now, for example: heapgauge top --at peak " +
         std::string(BaseName(Printable(output))) + "\n";
}

// Where the trace is written, and where it goes then.
struct Place {
  std::string written;
  std::string final;
  bool exists = false;    // what is written to is no file of ours: a device, or a pipe
  bool replaces = false;  // `written` takes the place of `final`
};

Place PlaceOf(const ImportOptions& options) {
  Place place{options.output, options.output};
  struct stat st {};
  if (!options.replace || stat(options.output.c_str(), &st) != 0) return place;
  place.exists = !S_ISREG(st.st_mode);
  place.replaces = !place.exists;
  if (!place.replaces) return place;
  std::error_code ignored;
  const auto target = std::filesystem::canonical(options.output, ignored);  // links stay
  if (!ignored) place.final = target.string();
  place.written = place.final + "." + std::to_string(getpid()) + ".part";
  return place;
}

Result<std::string> ImportFile(const ImportOptions& options) {
  const std::string name = options.source == "-" ? "standard input" : options.source;
  HG_ASSIGN(auto opened, OpenStream(options.source));
  HG_ASSIGN(auto plain, Decompressed(std::move(opened), name));
  PeekingStream stream(std::move(plain));
  HG_ASSIGN(const std::string_view start, stream.Peek(256));
  if (!IsHeaptrack(start)) {
    return Fail(ErrorCode::kNotRecognized,
                Printable(name) +
                    ": not a heaptrack file, and no other recording has the events of a trace; "
                    "reports read profiles as they are");
  }
  // What is there stays until the new trace is complete.
  const Place place = PlaceOf(options);
  if (place.replaces) {
    const auto old = trace::TraceFile::Open(place.final);
    if (old && (*old)->facts().being_written) {
      return Fail(ErrorCode::kUnavailable,
                  "the trace '" + Printable(options.output) +
                      "' is being written by a recorder: give this one another name (-o)");
    }
  }
  HG_ASSIGN(const auto writer,
            trace::TraceWriter::Create(place.written, trace::Facts(), trace::TraceWriter::Options(),
                                       place.exists));
  HeaptrackImportOptions how;
  how.build_id_of = BuildIdOf;
  how.progress = BeginProgress();
  const auto import = ImportHeaptrack(&stream, name, how, writer.get());
  if (!import) {
    if (!place.exists) unlink(place.written.c_str());  // half a trace would look like a whole one
    return tl::unexpected<Error>(import.error());
  }
  if (place.replaces && rename(place.written.c_str(), place.final.c_str()) != 0) {
    const int error = errno;
    unlink(place.written.c_str());
    return tl::unexpected<Error>(
        SystemError("cannot replace '" + Printable(options.output) + "'", error));
  }
  return Summary(*import, writer->bytes_written(), options.output);
}

int Import(const ImportOptions& options) {
  const auto text = ImportFile(options);
  EndProgress();
  return text ? PrintOut(*text) : FailWith(text.error());
}

}  // namespace

void AddImport(Command app, Action* action) {
  auto options = std::make_shared<ImportOptions>();
  Command sub = app.Sub("import", "make a trace of heaptrack's recording");
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

}  // namespace heapgauge::cli

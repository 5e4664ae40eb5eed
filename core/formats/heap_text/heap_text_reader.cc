#include "core/formats/heap_text/heap_text_reader.h"

#include "core/base/regex.h"
#include "core/formats/heap_text/heap_row_queue.h"
#include "core/formats/heap_text/heap_rows.h"
#include "core/formats/heap_text/heap_text_header.h"
#include "core/formats/mappings/assign_modules.h"
#include "core/formats/mappings/mapping_section.h"
#include "core/formats/text/legacy_frames.h"
#include "core/formats/text/scan.h"

namespace heapgauge {
namespace {

constexpr const char* kFormat = "gperftools heap profile";

// Where the row begins in a line that something, such as a logger, put a prefix to; npos if
// nowhere.
size_t FindRow(std::string_view line) {
  static const Regex row(R"((-?\d+: *-?\d+ *\[ *-?\d+: *-?\d+ *\] *@))");
  std::string_view found;
  if (!row.Matches(line, &found)) return std::string_view::npos;
  return static_cast<size_t>(found.data() - line.data());
}

}  // namespace

Result<Profile> ReadHeapText(ByteStream* stream, const std::string& name,
                             const TextReadOptions& options) {
  LineReader lines(stream, kFormat, name);
  return ReadHeapText(&lines, options);
}

Result<Profile> ReadHeapText(LineReader* lines, const TextReadOptions& options) {
  lines->set_format(kFormat);
  bool more = false;
  do {
    HG_ASSIGN(more, lines->Next());
    // Commands for the perl tools ("%warn ...") may stand before the header.
  } while (more && (IsBlankOrComment(lines->line()) || lines->line()[0] == '%'));
  if (!more) return lines->Fail(ErrorCode::kTruncated, "the profile is empty");
  const auto header = ParseHeapTextHeader(lines->line(), options.dialect);
  if (!header) return lines->Fail(header.error().code, header.error().message);
  TextProfile out;
  HeapRows rows(*header, &out);
  HeapRowQueue queue(&rows, &out);
  std::vector<Module> modules;
  for (;;) {
    HG_ASSIGN(more, lines->Next());
    if (!more) break;
    std::string_view line = lines->line();
    if (IsBlankOrComment(line)) continue;
    size_t at = 0;
    HeapRowFigures figures;
    std::string_view problem;
    bool good = ParseHeapFigures(line, &at, &figures, &problem);
    if (!good) {
      if (IsMappingSentinel(line)) {
        HG_ASSIGN(modules, ReadMappings(lines));
        break;
      }
      at = FindRow(line);
      good = at != std::string_view::npos && at != 0 &&
             ParseHeapFigures(line, &at, &figures, &problem);
    }
    if (!good) return lines->FailInLine(problem);
    if (!rows.MakesSense(figures)) return lines->FailInLine("bytes without a block");
    SkipBlanks(line, &at);
    if (!TakeChar(line, &at, '@')) return lines->FailInLine("a row without a stack (@ 0x...)");
    switch (out.ParseStack(line.substr(at))) {
      case StackError::kFine:
        break;
      case StackError::kTooDeep:
        return lines->FailInLine("the stack has more than 65535 frames");
      case StackError::kTooLarge:
        return lines->FailInLine("an address has more than 64 bits");
    }
    queue.Add(out.stack(), figures);
  }
  queue.Finish();
  Profile profile = out.Take();
  SetLegacyFrames(LegacyKind::kHeap, &profile);
  AssignModules(std::move(modules), &profile);
  return profile;
}

}  // namespace heapgauge

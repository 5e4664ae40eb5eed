#include "core/formats/symbolized/symbolized_reader.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/elf/demangle.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/formats/jemalloc/jemalloc.h"
#include "core/formats/legacy/legacy_cpu_reader.h"
#include "core/formats/legacy/legacy_text_reader.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/scan.h"

namespace heapgauge {
namespace {

constexpr const char* kFormat = "symbolized profile";

struct Symbols {
  std::string binary;
  std::vector<std::string> names;                     // "outer--inlined"
  std::unordered_map<uint64_t, uint32_t> by_address;  // index of the name
  std::unordered_map<std::string, uint32_t> by_name;  // many addresses have the same

  void Add(uint64_t address, std::string_view name) {
    const auto [it, is_new] =
        by_name.try_emplace(std::string(name), static_cast<uint32_t>(names.size()));
    if (is_new) names.emplace_back(name);
    by_address[address] = it->second;
  }
};

// "0x1234 name"
bool ParseSymbol(std::string_view line, Symbols* symbols) {
  size_t at = 0;
  uint64_t address = 0;
  if (!TakeText(line, &at, "0x") || TakeHex(line, &at, &address) != Taken::kYes) return false;
  const std::string_view name = Trim(line.substr(at));
  if (!name.empty()) symbols->Add(address, name);
  return true;
}

// The symbol section up to its end.
Status ReadSymbols(LineReader* lines, Symbols* symbols) {
  HG_ASSIGN(bool more, lines->Next());
  while (more && (IsBlankOrComment(lines->line()) || lines->line()[0] == '%')) {
    HG_ASSIGN(more, lines->Next());
  }
  size_t at = 0;
  if (!more || !TakeText(lines->line(), &at, "---")) {
    return lines->Fail(ErrorCode::kNotRecognized, "not a symbolized profile (--- symbol)");
  }
  for (;;) {
    HG_ASSIGN(more, lines->Next());
    if (!more) return lines->Fail(ErrorCode::kTruncated, "the file ends amid its names");
    const std::string_view line = lines->line();
    if (line.starts_with("---")) return {};
    if (line.starts_with("binary=")) {
      symbols->binary = Trim(line.substr(7));
    } else {
      ParseSymbol(line, symbols);
    }
  }
}

// The profile behind the names. A line "--- heap" or the like may stand before it.
Result<Profile> ReadRest(LineReader* lines, const TextReadOptions& options) {
  bool marked = false;
  for (;;) {
    HG_ASSIGN(const bool more, lines->Next());
    if (!more) return lines->Fail(ErrorCode::kTruncated, "there is no profile behind the names");
    const std::string_view line = lines->line();
    if (IsBlankOrComment(line) || line.starts_with("%")) continue;
    if (line.starts_with("heap profile:")) {
      lines->PutBack();
      return ReadHeapText(lines, options);
    }
    if (line.starts_with("heap_v")) {
      lines->PutBack();
      return ReadJemalloc(lines, options);
    }
    std::string_view marker = line;
    if (!marker.starts_with("---")) break;
    marker = Trim(marker.substr(3));
    if (marker.starts_with("profile")) return ReadLegacyCpu(lines, options);
    if (!marked && (marker == "heap" || marker == "growth" || marker.empty())) {
      marked = true;
      continue;
    }
    lines->PutBack();
    return ReadLegacyText(lines, options);
  }
  return lines->FailInLine("no profile of a known kind behind the names");
}

// Gives frames to all locations that have a name.
class Namer {
 public:
  Namer(const Symbols& symbols, Profile* profile) : symbols_(symbols), profile_(profile) {}

  void Name(Location* location) {
    auto found = symbols_.by_address.find(location->lookup_address());
    if (found == symbols_.by_address.end()) found = symbols_.by_address.find(location->address);
    if (found == symbols_.by_address.end() || location->frame_count != 0) return;
    std::string_view rest = symbols_.names[found->second];
    std::vector<std::string_view> chain;  // the outermost first
    while (chain.size() < kMaxInlined) {
      const size_t end = rest.find("--");
      if (end != 0 && !rest.empty()) chain.push_back(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 2);
    }
    location->first_frame = static_cast<uint32_t>(profile_->frames.size());
    location->frame_count = static_cast<uint32_t>(chain.size());
    for (size_t i = chain.size(); i-- > 0;) {
      profile_->frames.push_back({FunctionOf(chain[i]), 0, i != 0});
    }
    if (location->module != kNone) {
      Module& module = profile_->modules[location->module];
      module.has_functions = true;
      if (chain.size() > 1) module.has_inlines = true;
    }
  }

 private:
  static constexpr size_t kMaxInlined = 1000;

  FunctionId FunctionOf(std::string_view name) {
    const auto [it, is_new] =
        ids_.try_emplace(std::string(name), static_cast<FunctionId>(profile_->functions.size()));
    if (is_new) {
      Function function;
      const std::string linker_name = Printable(name);
      function.name = Demangle(linker_name);
      if (function.name != linker_name) function.system_name = linker_name;
      profile_->functions.push_back(std::move(function));
    }
    return it->second;
  }

  const Symbols& symbols_;
  Profile* profile_;
  std::unordered_map<std::string, FunctionId> ids_;
};

}  // namespace

Result<Profile> ReadSymbolized(ByteStream* stream, const std::string& name,
                               const TextReadOptions& options) {
  LineReader lines(stream, kFormat, name);
  Symbols symbols;
  HG_TRY(ReadSymbols(&lines, &symbols));
  HG_ASSIGN(Profile profile, ReadRest(&lines, options));
  Namer namer(symbols, &profile);
  for (Location& location : profile.locations) namer.Name(&location);
  profile.recording.program = Printable(symbols.binary);
  if (!profile.modules.empty() && profile.modules[0].path.empty()) {
    profile.modules[0].path = Printable(symbols.binary);
  }
  return profile;
}

}  // namespace heapgauge

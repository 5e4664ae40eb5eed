#include "core/formats/mappings/mappings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/formats/text/scan.h"

namespace heapgauge {
namespace {

constexpr size_t kMaxVariables = 32;  // each is tried at each $ of the file
constexpr size_t kMaxLine = 64 << 10;
constexpr size_t kMaxModules = 1 << 20;

// Two hexadecimal numbers with or without 0x, apart by a blank, a dash or nothing but luck, then
// perhaps permissions.
#define HG_RANGE_AND_RIGHTS                                       \
  R"(\s*(?:0x)?([[:xdigit:]]+)[\s-]?\s*(?:0x)?([[:xdigit:]]+):?)" \
  R"((?:\s+([-rwxps]+))?)"

// offset, device, inode, path
const Regex& ProcForm() {
  static const Regex form(HG_RANGE_AND_RIGHTS
                          R"((?:\s+([[:xdigit:]]+))?\s+[[:xdigit:]]+:[[:xdigit:]]+\s+\d+)"
                          R"((?:\s+(\S.*))?)");
  return form;
}

// path, (@offset), build-id
const Regex& BriefForm() {
  static const Regex form(HG_RANGE_AND_RIGHTS
                          R"((?:\s+(\S+))?(?:\s+\(@([[:xdigit:]]+)\))?(?:\s+([[:xdigit:]]+))?)");
  return form;
}
#undef HG_RANGE_AND_RIGHTS

const Regex& LogPrefix() {
  static const Regex prefix(R"([^\[\]]+:\d+\]\s)");
  return prefix;
}

// A shared library by its name: it ends in .so, or a version follows.
bool IsLibraryName(std::string_view path) {
  for (size_t at = path.find(".so"); at != std::string_view::npos; at = path.find(".so", at + 1)) {
    const size_t after = at + 3;
    if (after == path.size()) return true;
    if ((path[after] == '.' || path[after] == '_') && after + 1 < path.size() &&
        IsDigit(path[after + 1])) {
      return true;
    }
  }
  return false;
}

std::string WithoutDeleted(std::string_view path) {
  constexpr std::string_view kDeleted = "(deleted)";
  std::string text(path);
  for (size_t at = text.find(kDeleted); at != std::string::npos; at = text.find(kDeleted)) {
    text.erase(at, kDeleted.size());
  }
  return std::string(Trim(text));
}

bool Hex(std::string_view text, uint64_t* value) {
  size_t at = 0;
  return TakeHex(text, &at, value) == Taken::kYes && at == text.size();
}

// The second goes on where the first ends, as far as is known.
bool Continues(const Module& first, const Module& second) {
  if (!first.path.empty() && !second.path.empty() && first.path != second.path) return false;
  if (!first.build_id.empty() && !second.build_id.empty() && first.build_id != second.build_id) {
    return false;
  }
  if (first.end != second.start) return false;
  return first.offset == 0 || second.offset == 0 ||
         first.offset + (first.end - first.start) == second.offset;
}

}  // namespace

bool IsMappingSentinel(std::string_view line) {
  return line.find("MAPPED_LIBRARIES:") != std::string_view::npos ||
         line.find("--- Memory map:") != std::string_view::npos;
}

std::string MappingParser::Expand(std::string_view line) const {
  std::string text;
  for (size_t at = 0; at < line.size() && text.size() <= kMaxLine;) {
    const size_t dollar = std::min(line.find('$', at), line.size());
    text += line.substr(at, dollar - at);
    at = dollar;
    if (at == line.size()) break;
    const std::pair<std::string, std::string>* found = nullptr;
    for (const auto& variable : variables_) {
      if (line.substr(at).starts_with(variable.first)) {
        found = &variable;
        break;
      }
    }
    text += found != nullptr ? std::string_view(found->second) : std::string_view("$");
    at += found != nullptr ? found->first.size() : 1;
  }
  return text;
}

void MappingParser::Line(std::string_view line) {
  if (line.size() > kMaxLine || modules_.size() == kMaxModules) return;
  LogPrefix().Take(&line);
  const bool expands = !variables_.empty() && line.find('$') != std::string_view::npos;
  const std::string expanded = expands ? Expand(line) : std::string();
  // Variables in variables can make a short file long.
  if (expanded.size() > kMaxLine) return;
  const std::string_view text = expands ? std::string_view(expanded) : line;
  if (Entry(text)) return;
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || variables_.size() == kMaxVariables) return;
  variables_.emplace_back("$" + std::string(Trim(text.substr(0, equals))),
                          Trim(text.substr(equals + 1)));
}

// True if the line is an entry, even one that is left out.
bool MappingParser::Entry(std::string_view line) {
  std::string_view start, end, rights, offset, path, build_id;
  if (!ProcForm().Take(&line, &start, &end, &rights, &offset, &path) &&
      !BriefForm().Take(&line, &start, &end, &rights, &path, &offset, &build_id)) {
    return false;
  }
  if (!rights.empty() && rights.find('x') == std::string_view::npos) return true;
  Module module;
  module.load_bias_known = false;
  if (!Hex(start, &module.start) || !Hex(end, &module.end)) return false;
  if (!offset.empty() && !Hex(offset, &module.offset)) return false;
  constexpr std::string_view kDeleted = " (deleted)";
  module.path = std::string(Trim(path));
  if (module.path.ends_with(kDeleted)) module.path.resize(module.path.size() - kDeleted.size());
  module.build_id = std::string(build_id);
  modules_.push_back(std::move(module));
  return true;
}

Result<std::vector<Module>> ReadMappings(LineReader* lines) {
  MappingParser parser;
  for (;;) {
    HG_ASSIGN(const bool more, lines->Next());
    if (!more) break;
    parser.Line(lines->line());
  }
  return parser.Take();
}

void TidyModules(std::vector<Module>* modules) {
  std::vector<Module> tidy;
  for (Module& module : *modules) {
    if (!tidy.empty() && Continues(tidy.back(), module)) {
      Module& last = tidy.back();
      last.end = module.end;
      if (!module.path.empty()) last.path = std::move(module.path);
      if (!module.build_id.empty()) last.build_id = std::move(module.build_id);
      continue;
    }
    tidy.push_back(std::move(module));
  }
  for (Module& module : tidy) {
    const std::string path = WithoutDeleted(module.path);
    if (path.empty() || path[0] == '[' || IsLibraryName(path)) continue;
    std::swap(tidy.front(), module);
    break;
  }
  *modules = std::move(tidy);
}

namespace {

// Ranges are put in with a number; asked for a point, it tells the smallest number of all ranges
// around it.
class LowestRange {
 public:
  // `bounds` are all ends of ranges that will come, sorted, each once.
  explicit LowestRange(const std::vector<uint64_t>& bounds)
      : bounds_(bounds), lowest_(2 * bounds.size(), kNone) {}

  void Add(uint64_t start, uint64_t end, uint32_t number) {
    if (start >= end) return;
    size_t low = IndexOf(start) + bounds_.size();
    size_t high = IndexOf(end) + bounds_.size();
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) Lower(low++, number);
      if (high % 2 == 1) Lower(--high, number);
    }
  }

  // kNone: no range is around it.
  uint32_t At(uint64_t point) const {
    const auto after = std::upper_bound(bounds_.begin(), bounds_.end(), point);
    if (after == bounds_.begin()) return kNone;
    uint32_t lowest = kNone;
    size_t at = static_cast<size_t>(after - bounds_.begin()) - 1 + bounds_.size();
    for (; at != 0; at /= 2) lowest = std::min(lowest, lowest_[at]);
    return lowest;
  }

 private:
  size_t IndexOf(uint64_t bound) const {
    return static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), bound) -
                               bounds_.begin());
  }
  void Lower(size_t at, uint32_t number) { lowest_[at] = std::min(lowest_[at], number); }

  const std::vector<uint64_t>& bounds_;
  std::vector<uint32_t> lowest_;  // a segment tree; leaf i is from bound i to the next
};

// Some writers tell wrong ranges of a program that moved its code to huge pages.
void MendProgram(std::vector<Module>* modules) {
  constexpr std::string_view kHugePages = "/anon_hugepage";
  if (modules->size() > 1 && (*modules)[0].path.starts_with(kHugePages) &&
      (*modules)[0].end == (*modules)[1].start) {
    modules->erase(modules->begin());
  }
  // Where the linker puts programs that are not position-independent.
  constexpr uint64_t kUsualStart = 0x400000;
  if (!modules->empty() && modules->front().start - modules->front().offset == kUsualStart) {
    modules->front().start = kUsualStart;
    modules->front().offset = 0;
  }
}

}  // namespace

void AssignModules(std::vector<Module> modules, Profile* profile) {
  TidyModules(&modules);
  MendProgram(&modules);
  std::vector<uint64_t> bounds;
  for (const Module& m : modules) {
    bounds.insert(bounds.end(), {m.start, m.end, m.start - m.offset});
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  LowestRange inside(bounds);
  LowestRange below(bounds);  // within the offset
  for (ModuleId i = 0; i < modules.size(); ++i) {
    const Module& m = modules[i];
    inside.Add(m.start, m.end, i);
    if (m.offset != 0) below.Add(m.start - m.offset, m.start, i);
  }
  ModuleId fake = kNone;
  for (Location& location : profile->locations) {
    const uint64_t address = location.lookup_address();
    if (location.module != kNone || address == 0) continue;
    ModuleId found = inside.At(address);
    if (found == kNone && fake == kNone) {
      found = below.At(address);
      if (found != kNone) {
        // What is below is inside from now on, so nobody will ask for this one again.
        Module& m = modules[found];
        inside.Add(m.start - m.offset, m.start, found);
        m.start -= m.offset;
        m.offset = 0;
      }
    }
    if (found == kNone) {
      if (fake == kNone) {
        fake = static_cast<ModuleId>(modules.size());
        Module whole;
        whole.end = ~uint64_t{0};
        whole.load_bias_known = false;
        modules.push_back(std::move(whole));
      }
      found = fake;
    }
    location.module = found;
  }
  profile->modules = std::move(modules);
}

}  // namespace heapgauge

#include "core/os/smaps.h"

#include <charconv>
#include <memory>
#include <utility>

#include "core/base/byte_stream.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

// No process has more than its address space.
constexpr uint64_t kMaxKb = uint64_t{1} << 37;

bool TakeNumber(std::string_view* text, int base, uint64_t* value) {
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), *value, base);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

void SkipSpaces(std::string_view* text) {
  while (!text->empty() && text->front() == ' ') text->remove_prefix(1);
}

}  // namespace

uint64_t Smaps::resident() const {
  uint64_t sum = not_listed_resident;
  for (const MappingUsage& m : mappings) sum += m.resident;
  return sum;
}

uint64_t Smaps::swapped() const {
  uint64_t sum = 0;
  for (const MappingUsage& m : mappings) sum += m.swapped;
  return sum;
}

void SmapsParser::Feed(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view piece = text.substr(0, end);
    const bool complete = end != std::string_view::npos;
    text.remove_prefix(complete ? end + 1 : text.size());
    if (rest_.size() + piece.size() > kMaxLine) line_is_cut_ = true;
    if (rest_.empty() && complete && !line_is_cut_) {
      Line(piece);
      continue;
    }
    if (!line_is_cut_) rest_.append(piece);
    if (!complete) continue;
    if (line_is_cut_) {
      ++smaps_.damaged_lines;
    } else {
      Line(rest_);
    }
    rest_.clear();
    line_is_cut_ = false;
  }
}

Smaps SmapsParser::Finish() {
  if (!rest_.empty()) Feed("\n");
  Keep();
  return std::move(smaps_);
}

void SmapsParser::Keep() {
  if (!has_current_) return;
  has_current_ = false;
  if (smaps_.mappings.size() < kMaxMappings) {
    smaps_.mappings.push_back(std::move(current_));
  } else {
    ++smaps_.not_listed;
    smaps_.not_listed_resident += current_.resident;
  }
}

// A field begins with a capital letter, a mapping with a hexadecimal digit in lower case.
void SmapsParser::Line(std::string_view line) {
  if (line.empty()) return;
  if (line.front() >= 'A' && line.front() <= 'Z') {
    if (has_current_) Field(line);
  } else {
    Keep();
    if (!Begin(line)) ++smaps_.damaged_lines;
  }
}

// "55c6e3657000-55c6e3659000 r--p 00000000 fe:00 247498      /usr/bin/head"
bool SmapsParser::Begin(std::string_view line) {
  MappingUsage m;
  uint64_t offset = 0;
  uint64_t device_major = 0;
  uint64_t device_minor = 0;
  if (!TakeNumber(&line, 16, &m.start) || !TakeChar(&line, '-') || !TakeNumber(&line, 16, &m.end) ||
      !TakeChar(&line, ' ') || line.size() < 5) {
    return false;
  }
  // By address, and none over another: what follows relies on it.
  if (m.end <= m.start || m.start < last_end_) return false;
  const std::string_view flags = line.substr(0, 4);
  m.readable = flags[0] == 'r';
  m.writable = flags[1] == 'w';
  m.executable = flags[2] == 'x';
  m.shared = flags[3] == 's';
  line.remove_prefix(4);
  if (!TakeChar(&line, ' ') || !TakeNumber(&line, 16, &offset) || !TakeChar(&line, ' ') ||
      !TakeNumber(&line, 16, &device_major) || !TakeChar(&line, ':') ||
      !TakeNumber(&line, 16, &device_minor) || !TakeChar(&line, ' ') ||
      !TakeNumber(&line, 10, &m.inode)) {
    return false;
  }
  SkipSpaces(&line);
  m.device_major = static_cast<uint32_t>(device_major);
  m.device_minor = static_cast<uint32_t>(device_minor);
  m.name = std::string(line);
  last_end_ = m.end;
  current_ = std::move(m);
  has_current_ = true;
  return true;
}

void SmapsParser::Field(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = line.substr(0, colon);
  std::string_view value = line.substr(colon + 1);
  if (key == "VmFlags") {
    const std::string flags = std::string(value) + " ";
    current_.no_reserve = flags.find(" nr ") != std::string::npos;
    current_.wiped_on_fork = flags.find(" wf ") != std::string::npos;
    return;
  }
  uint64_t* field = key == "Rss"             ? &current_.resident
                    : key == "Anonymous"     ? &current_.anonymous
                    : key == "Shared_Clean"  ? &current_.shared_clean
                    : key == "Shared_Dirty"  ? &current_.shared_dirty
                    : key == "Private_Clean" ? &current_.private_clean
                    : key == "Private_Dirty" ? &current_.private_dirty
                    : key == "Swap"          ? &current_.swapped
                    : key == "LazyFree"      ? &current_.lazily_freed
                    : key == "Locked"        ? &current_.locked
                                             : nullptr;
  if (field == nullptr) return;
  SkipSpaces(&value);
  uint64_t kb = 0;
  if (!TakeNumber(&value, 10, &kb) || kb > kMaxKb) {
    ++smaps_.damaged_lines;
    return;
  }
  *field = kb * 1024;
}

Result<Smaps> ReadSmaps(const std::string& path) {
  HG_ASSIGN(const std::unique_ptr<ByteStream> stream, OpenStream(path));
  SmapsParser parser;
  std::string buffer(size_t{256} * 1024, '\0');
  bool any = false;
  while (true) {
    HG_ASSIGN(const size_t n, stream->Read(buffer.data(), buffer.size()));
    if (n == 0) break;
    any = true;
    parser.Feed(std::string_view(buffer.data(), n));
  }
  // The kernel answers with nothing for a process that is going, and for its own threads.
  if (!any) return Fail(ErrorCode::kNotFound, "'" + Printable(path) + "' is empty");
  return parser.Finish();
}

}  // namespace heapgauge

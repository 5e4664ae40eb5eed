#include "core/os/memory_maps.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/base/byte_stream.h"
#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/os/proc_fields.h"

namespace heapgauge {
namespace {

// No process has more than its address space.
constexpr uint64_t kMaxKb = uint64_t{1} << 37;

bool Take(std::string_view* text, int base, uint64_t* value) {
  const auto number = TakeNumber<uint64_t>(text, base);
  if (number) *value = *number;
  return number.has_value();
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
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
  if (!Take(&line, 16, &m.start) || !TakeChar(&line, '-') || !Take(&line, 16, &m.end) ||
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
  if (!TakeChar(&line, ' ') || !Take(&line, 16, &offset) || !TakeChar(&line, ' ') ||
      !Take(&line, 16, &device_major) || !TakeChar(&line, ':') || !Take(&line, 16, &device_minor) ||
      !TakeChar(&line, ' ') || !Take(&line, 10, &m.inode)) {
    return false;
  }
  line = TrimLeft(line, " ");
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
  value = TrimLeft(value, " ");
  uint64_t kb = 0;
  if (!Take(&value, 10, &kb) || kb > kMaxKb) {
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

namespace {

constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kWindowPages = 4096;

}  // namespace

PageMap::PageMap(std::unique_ptr<ByteSource> source, uint64_t budget)
    : source_(std::move(source)), budget_(budget) {}

// Reads no further ahead than to the page `last`.
const uint64_t* PageMap::Entry(uint64_t page, uint64_t last) {
  if (page >= window_first_ && page - window_first_ < window_.size()) {
    return &window_[page - window_first_];
  }
  const uint64_t pages = std::min({kWindowPages, last - page + 1, budget_});
  if (pages == 0) return nullptr;
  budget_ -= pages;
  window_first_ = page;
  window_.resize(pages);
  const size_t got =
      source_->ReadAt(page * sizeof(uint64_t), window_.data(), pages * sizeof(uint64_t));
  window_.resize(got / sizeof(uint64_t));
  return window_.empty() ? nullptr : window_.data();
}

std::optional<uint64_t> PageMap::ResidentIn(uint64_t start, uint64_t end) {
  if (source_ == nullptr) return std::nullopt;
  if (end <= start) return 0;
  uint64_t resident = 0;
  const uint64_t last = (end - 1) / kPage;
  for (uint64_t page = start / kPage; page <= last; ++page) {
    const uint64_t* entry = Entry(page, last);
    if (entry == nullptr) return std::nullopt;
    if ((*entry & kPresent) == 0) continue;
    resident += std::min(end, (page + 1) * kPage) - std::max(start, page * kPage);
  }
  return resident;
}

namespace {

// Guards are a page as a rule, and a few where the program asks for more.
constexpr uint64_t kMaxGuard = 1 << 20;

bool CanBeStack(const MappingUsage& m) {
  return m.readable && m.writable && !m.shared &&
         (m.is_anonymous() || m.name.compare(0, 6, "[anon:") == 0 ||
          m.name.compare(0, 7, "[stack:") == 0);
}

bool IsGuard(const MappingUsage& m) {
  return !m.readable && !m.writable && !m.executable && m.inode == 0 && m.size() <= kMaxGuard;
}

}  // namespace

uint64_t StackPointerIn(const std::string& line) {
  // "0 0x3 ... 0x7fff01a22248 0x7fe3951b72ad": number, six arguments, stack pointer, pc. A thread
  // that waits elsewhere than in a system call has "-1 sp pc". "running" has nothing.
  if (line.empty() || line.compare(0, 7, "running") == 0) return 0;
  const size_t last = line.find_last_of(' ');
  if (last == std::string::npos || last == 0) return 0;
  const size_t before = line.find_last_of(' ', last - 1);
  if (before == std::string::npos) return 0;
  return std::strtoull(line.c_str() + before + 1, nullptr, 16);
}

StackPointers ReadStackPointers(const std::string& directory) {
  StackPointers found;
  const std::string tasks = directory + "/task";
  for (const uint32_t id : NumbersIn(tasks).value_or(std::vector<uint32_t>())) {
    if (++found.threads > StackPointers::kMaxThreads) break;
    const auto line = ReadWholeFile(tasks + "/" + std::to_string(id) + "/syscall", 512);
    if (!line) {
      // It may have ended; but where none may be read there is no need to ask for a thousand more.
      if (!found.permitted && found.threads > 8) break;
      continue;
    }
    found.permitted = true;
    if (const uint64_t sp = StackPointerIn(*line)) found.pointers.push_back(sp);
  }
  return found;
}

StackMappings FindStacks(const std::vector<MappingUsage>& mappings, const StackPointers& pointers) {
  StackMappings stacks;
  stacks.is_stack.resize(mappings.size());
  for (size_t i = 0; i < mappings.size(); ++i) {
    const MappingUsage& m = mappings[i];
    if (m.name == "[stack]" || m.name.find("pthread stack") != std::string::npos) {
      stacks.is_stack[i] = true;
    } else if (i > 0 && CanBeStack(m) && !m.no_reserve && IsGuard(mappings[i - 1]) &&
               mappings[i - 1].end == m.start) {
      stacks.is_stack[i] = true;
      ++stacks.by_shape;
    }
  }
  for (const uint64_t sp : pointers.pointers) {
    auto it =
        std::upper_bound(mappings.begin(), mappings.end(), sp,
                         [](uint64_t address, const MappingUsage& m) { return address < m.start; });
    if (it == mappings.begin()) continue;
    --it;
    const size_t i = static_cast<size_t>(it - mappings.begin());
    if (sp >= it->end || stacks.is_stack[i] || !CanBeStack(*it)) continue;
    stacks.is_stack[i] = true;
    ++stacks.by_pointer;
  }
  return stacks;
}

}  // namespace heapgauge

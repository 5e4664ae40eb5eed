#include "core/symbolize/name_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/file.h"
#include "core/elf/byte_reader.h"

namespace heapgauge {
namespace {

constexpr std::string_view kMagic = "HGNAMES2";
constexpr size_t kHeader = 16;  // magic and checksum
constexpr size_t kLargestFile = 64 << 20;
constexpr const char* kSuffix = ".names";

uint64_t Checksum(std::string_view bytes) {
  uint64_t sum = 0x9e3779b97f4a7c15 ^ bytes.size();
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t n = std::min<size_t>(8, bytes.size());
    std::memcpy(&word, bytes.data(), n);
    sum = (sum ^ word) * 0xff51afd7ed558ccd;
    sum ^= sum >> 32;
    bytes.remove_prefix(n);
  }
  return sum;
}

class Writer {
 public:
  template <typename T>
  void Number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  // Each text once.
  uint32_t TextNumber(std::string_view text) {
    const auto [it, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return it->second;
  }
  const std::vector<std::string_view>& texts() const { return texts_; }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

std::string_view ReadText(ByteReader* reader) {
  const uint32_t size = reader->U32();
  const uint8_t* at = reader->position();
  reader->Skip(size);
  if (reader->failed()) return {};
  return {reinterpret_cast<const char*>(at), size};
}

bool IsPlainBuildId(const std::string& id) {
  return id.size() >= 8 && id.size() <= 128 &&
         id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void Evict(const std::string& dir, uint64_t limit) {
  struct Entry {
    std::filesystem::path path;
    std::filesystem::file_time_type used;
    uint64_t size;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(dir, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() != kSuffix || !it->is_regular_file(ignored)) continue;
    const Entry entry{it->path(), it->last_write_time(ignored), it->file_size(ignored)};
    if (ignored) continue;
    total += entry.size;
    entries.push_back(entry);
  }
  if (total <= limit) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit / 4 * 3) break;
    std::filesystem::remove(entry.path, error);
    total -= entry.size;
  }
}

}  // namespace

std::string DefaultNameCacheDir() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/heapgauge";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.cache/heapgauge";
  }
  return "";
}

const std::vector<SourceFrame>* CachedNames::Find(uint64_t address) const {
  const auto it = std::lower_bound(addresses.begin(), addresses.end(), address);
  if (it == addresses.end() || *it != address) return nullptr;
  return &frames[static_cast<size_t>(it - addresses.begin())];
}

std::string EncodeNames(const CachedNames& names) {
  Writer head;
  head.Text(names.build_id);
  head.Text(names.options);
  head.Number(static_cast<uint8_t>(names.has_dwarf));
  head.Number(static_cast<uint8_t>(names.has_symtab));
  head.Number(static_cast<uint32_t>(names.stamps.size()));
  for (const FileStamp& stamp : names.stamps) {
    head.Text(stamp.path);
    head.Number(static_cast<uint8_t>(stamp.exists));
    head.Number(stamp.size);
    head.Number(stamp.modified_ns);
    head.Number(stamp.inode);
  }
  Writer body;
  body.Number(static_cast<uint32_t>(names.addresses.size()));
  for (size_t i = 0; i < names.addresses.size(); ++i) {
    body.Number(names.addresses[i]);
    body.Number(static_cast<uint32_t>(names.frames[i].size()));
    for (const SourceFrame& frame : names.frames[i]) {
      body.Number(body.TextNumber(frame.system_name));
      body.Number(body.TextNumber(frame.file));
      body.Number(frame.line);
      body.Number(static_cast<uint8_t>(frame.inlined));
      body.Number(body.TextNumber(frame.name));
      body.Number(frame.declared_line);
    }
  }
  head.Number(static_cast<uint32_t>(body.texts().size()));
  for (const std::string_view text : body.texts()) head.Text(text);
  const std::string payload = head.bytes() + body.bytes();
  Writer file;
  file.bytes() = kMagic;
  file.Number(Checksum(payload));
  return file.bytes() + payload;
}

std::optional<CachedNames> DecodeNames(std::string bytes) {
  CachedNames names;
  names.bytes = std::move(bytes);
  const std::string_view all = names.bytes;
  if (all.size() < kHeader || all.substr(0, kMagic.size()) != kMagic) return std::nullopt;
  ByteReader reader({reinterpret_cast<const uint8_t*>(all.data()), all.size()}, kMagic.size());
  if (reader.U64() != Checksum(all.substr(kHeader))) return std::nullopt;
  names.build_id = ReadText(&reader);
  names.options = ReadText(&reader);
  names.has_dwarf = reader.U8() != 0;
  names.has_symtab = reader.U8() != 0;
  // Counts are not trusted: nothing is reserved for them, and each item takes bytes of the file.
  for (uint32_t i = reader.U32(); i > 0 && !reader.failed(); --i) {
    FileStamp stamp;
    stamp.path = ReadText(&reader);
    stamp.exists = reader.U8() != 0;
    stamp.size = reader.U64();
    stamp.modified_ns = reader.U64();
    stamp.inode = reader.U64();
    names.stamps.push_back(std::move(stamp));
  }
  std::vector<std::string_view> texts;
  for (uint32_t i = reader.U32(); i > 0 && !reader.failed(); --i) {
    texts.push_back(ReadText(&reader));
  }
  for (uint32_t i = reader.U32(); i > 0 && !reader.failed(); --i) {
    const uint64_t address = reader.U64();
    if (!names.addresses.empty() && names.addresses.back() >= address) return std::nullopt;
    std::vector<SourceFrame> frames;
    for (uint32_t n = reader.U32(); n > 0 && !reader.failed(); --n) {
      const uint32_t name = reader.U32();
      const uint32_t file = reader.U32();
      const uint32_t line = reader.U32();
      const bool inlined = reader.U8() != 0;
      const uint32_t shown = reader.U32();
      const uint32_t declared = reader.U32();
      if (std::max({name, file, shown}) >= texts.size()) return std::nullopt;
      frames.push_back({texts[name], texts[file], line, inlined, texts[shown], declared});
    }
    names.addresses.push_back(address);
    names.frames.push_back(std::move(frames));
  }
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return names;
}

std::optional<CachedNames> LoadNames(const std::string& dir, const std::string& build_id,
                                     const std::string& options) {
  if (dir.empty() || !IsPlainBuildId(build_id)) return std::nullopt;
  const std::string path = dir + "/" + build_id + kSuffix;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct stat st {};
  std::string bytes;
  // Somebody else's file could hold somebody else's idea of our names.
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
      static_cast<uint64_t>(st.st_size) <= kLargestFile) {
    bytes.resize(static_cast<size_t>(st.st_size));
    const ssize_t n = pread(fd, bytes.data(), bytes.size(), 0);
    if (n != st.st_size) bytes.clear();
    static_cast<void>(futimens(fd, nullptr));  // in use: evicted later
  }
  close(fd);
  auto names = DecodeNames(std::move(bytes));
  if (!names || names->build_id != build_id) return std::nullopt;
  names->current = names->options == options &&
                   std::all_of(names->stamps.begin(), names->stamps.end(),
                               [](const FileStamp& s) { return StampOf(s.path) == s; });
  return names;
}

void SaveNames(const std::string& dir, const CachedNames& names, uint64_t limit) {
  if (dir.empty() || !IsPlainBuildId(names.build_id)) return;
  const std::string bytes = EncodeNames(names);
  if (bytes.size() > kLargestFile) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(dir).parent_path(), error);
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) return;
  struct stat st {};
  // Another user's directory (sudo keeps HOME) is left alone.
  if (stat(dir.c_str(), &st) != 0 || st.st_uid != geteuid()) return;
  static_cast<void>(WriteWholeFile(dir + "/" + names.build_id + kSuffix, bytes));
  Evict(dir, limit);
}

}  // namespace heapgauge

#include "core/gauge/gauge_names.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

#include "core/base/text.h"

namespace heapgauge {
namespace {

using wire::SegmentKind;

constexpr uint32_t kNamesVersion = 1;
constexpr uint64_t kMaxPlainBytes = 256 << 20;
constexpr int kCompressionLevel = 6;

// In front of the compressed bytes.
struct Envelope {
  uint64_t plain_bytes;
};

// The beginning of the plain bytes. Behind it follow the arrays in this order, then the text.
struct Head {
  uint32_t version;
  uint32_t modules;
  uint32_t locations;
  uint32_t frames;
  uint32_t functions;
  uint32_t text_bytes;
};
struct PackedModule {
  uint32_t flags;
};
constexpr uint32_t kHasFunctions = 1;
constexpr uint32_t kHasLines = 2;
struct PackedLocation {
  uint64_t address;
  uint32_t module;  // number in the profile's list, kNone
  uint32_t exact;
  uint32_t first_frame;
  uint32_t frame_count;
};
struct PackedFrame {
  uint32_t function;
  uint32_t line;
  uint32_t inlined;
};
struct PackedText {
  uint32_t offset;
  uint32_t length;
};
struct PackedFunction {
  PackedText name;
  PackedText system_name;
  PackedText file;
};

auto KeyOf(const PackedLocation& location) {
  return std::make_tuple(location.address, location.module, location.exact != 0);
}
auto KeyOf(const Location& location) {
  return std::make_tuple(location.address, location.module, location.exact);
}

template <typename T>
void Append(std::string* out, const std::vector<T>& items) {
  if (!items.empty()) {
    out->append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
  }
}

// Texts one behind the other; the file of a function is often that of the one before.
class TextPool {
 public:
  PackedText Add(const std::string& text) {
    if (text == last_text_) return last_;
    last_ = {static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(text.size())};
    last_text_ = text;
    text_ += text;
    return last_;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string last_text_;
  PackedText last_{0, 0};
};

struct Names {
  std::vector<PackedModule> modules;
  std::vector<PackedLocation> locations;
  std::vector<PackedFrame> frames;
  std::vector<PackedFunction> functions;
  std::string text;
};

bool IsNamed(const Profile& profile, const Location& location) {
  if (location.frame_count == 0) return false;
  return !profile.functions[profile.frames[location.first_frame].function].placeholder;
}

Names Collect(const Profile& profile) {
  Names names;
  for (const Module& module : profile.modules) {
    names.modules.push_back(
        {(module.has_functions ? kHasFunctions : 0) | (module.has_lines ? kHasLines : 0)});
  }
  for (const Location& location : profile.locations) {
    if (!IsNamed(profile, location)) continue;
    names.locations.push_back({location.address, location.module, location.exact ? 1U : 0U,
                               static_cast<uint32_t>(names.frames.size()), location.frame_count});
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const Frame& frame = profile.frames[location.first_frame + i];
      names.frames.push_back({frame.function, frame.line, frame.inlined ? 1U : 0U});
    }
  }
  std::sort(names.locations.begin(), names.locations.end(),
            [](const auto& a, const auto& b) { return KeyOf(a) < KeyOf(b); });
  TextPool pool;
  TextPool files;
  for (const Function& function : profile.functions) {
    names.functions.push_back(
        {pool.Add(function.name), pool.Add(function.system_name), files.Add(function.file)});
  }
  // Files go behind the names: their neighbours are alike, which compresses well.
  for (PackedFunction& function : names.functions) {
    function.file.offset += static_cast<uint32_t>(pool.text().size());
  }
  names.text = pool.text() + files.text();
  return names;
}

// Takes arrays off the front of the plain bytes, whose size was checked as a whole.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  std::vector<T> Take(size_t count) {
    std::vector<T> items(count);
    if (count != 0) std::memcpy(items.data(), bytes_.data(), count * sizeof(T));
    bytes_.remove_prefix(count * sizeof(T));
    return items;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

bool Fits(const PackedText& text, size_t available) {
  return uint64_t{text.offset} + text.length <= available;
}

// The arrays of the plain bytes; nothing if they contradict themselves.
bool Unpack(std::string_view plain, Names* names) {
  Head head;
  if (plain.size() < sizeof head) return false;
  std::memcpy(&head, plain.data(), sizeof head);
  plain.remove_prefix(sizeof head);
  const uint64_t expected = uint64_t{head.modules} * sizeof(PackedModule) +
                            uint64_t{head.locations} * sizeof(PackedLocation) +
                            uint64_t{head.frames} * sizeof(PackedFrame) +
                            uint64_t{head.functions} * sizeof(PackedFunction) + head.text_bytes;
  if (head.version != kNamesVersion || expected != plain.size()) return false;
  Unpacker unpacker(plain);
  names->modules = unpacker.Take<PackedModule>(head.modules);
  names->locations = unpacker.Take<PackedLocation>(head.locations);
  names->frames = unpacker.Take<PackedFrame>(head.frames);
  names->functions = unpacker.Take<PackedFunction>(head.functions);
  names->text = unpacker.rest();
  uint64_t frames = 0;
  for (const PackedLocation& location : names->locations) {
    const uint64_t end = uint64_t{location.first_frame} + location.frame_count;
    if (location.frame_count == 0 || end > names->frames.size()) return false;
    frames += location.frame_count;
  }
  // No two locations share frames, else a small file would make a huge profile.
  if (frames > names->frames.size()) return false;
  for (const PackedFrame& frame : names->frames) {
    if (frame.function >= names->functions.size()) return false;
  }
  const auto keys_rise = [](const auto& a, const auto& b) { return KeyOf(a) < KeyOf(b); };
  if (!std::is_sorted(names->locations.begin(), names->locations.end(), keys_rise)) return false;
  uint64_t text_bytes = 0;  // functions do share texts, but within reason
  const bool fit =
      std::all_of(names->functions.begin(), names->functions.end(), [&](const auto& f) {
        const size_t size = names->text.size();
        text_bytes += uint64_t{f.name.length} + f.system_name.length + f.file.length;
        return Fits(f.name, size) && Fits(f.system_name, size) && Fits(f.file, size);
      });
  return fit && text_bytes <= kMaxPlainBytes;
}

void Attach(const Names& names, Profile* profile) {
  const auto text = [&](const PackedText& t) {
    return Printable(std::string_view(names.text).substr(t.offset, t.length));
  };
  std::vector<FunctionId> function_of(names.functions.size(), kNone);
  const auto function = [&](uint32_t packed) {
    if (function_of[packed] == kNone) {
      const PackedFunction& f = names.functions[packed];
      function_of[packed] = static_cast<FunctionId>(profile->functions.size());
      profile->functions.push_back({text(f.name), text(f.system_name), text(f.file)});
    }
    return function_of[packed];
  };
  for (Location& location : profile->locations) {
    const auto at = std::lower_bound(
        names.locations.begin(), names.locations.end(), KeyOf(location),
        [](const PackedLocation& packed, const auto& key) { return KeyOf(packed) < key; });
    if (at == names.locations.end() || KeyOf(*at) != KeyOf(location)) continue;
    location.first_frame = static_cast<uint32_t>(profile->frames.size());
    location.frame_count = at->frame_count;
    for (uint32_t i = 0; i < at->frame_count; ++i) {
      const PackedFrame& frame = names.frames[at->first_frame + i];
      profile->frames.push_back({function(frame.function), frame.line, frame.inlined != 0});
    }
  }
  for (size_t i = 0; i < std::min(names.modules.size(), profile->modules.size()); ++i) {
    profile->modules[i].has_functions = (names.modules[i].flags & kHasFunctions) != 0;
    profile->modules[i].NoteLines((names.modules[i].flags & kHasLines) != 0);
  }
}

}  // namespace

NameCounts CountNames(const Profile& profile) {
  NameCounts counts;
  for (const Location& location : profile.locations) {
    const bool named =
        location.frame_count != 0 &&
        !profile.functions[profile.frames[location.first_frame].function].placeholder;
    ++(named ? counts.named : counts.open);
    if (named && profile.frames[location.first_frame].line != 0) ++counts.placed;
  }
  return counts;
}

Result<std::string> EncodeNames(const Profile& profile) {
  const Names names = Collect(profile);
  if (names.text.size() > std::numeric_limits<uint32_t>::max()) {
    return Fail(ErrorCode::kUnsupported, "the names are too long to be saved");
  }
  const Head head{kNamesVersion,
                  static_cast<uint32_t>(names.modules.size()),
                  static_cast<uint32_t>(names.locations.size()),
                  static_cast<uint32_t>(names.frames.size()),
                  static_cast<uint32_t>(names.functions.size()),
                  static_cast<uint32_t>(names.text.size())};
  std::string plain(reinterpret_cast<const char*>(&head), sizeof head);
  Append(&plain, names.modules);
  Append(&plain, names.locations);
  Append(&plain, names.frames);
  Append(&plain, names.functions);
  plain += names.text;
  if (plain.size() > kMaxPlainBytes) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("the names take {}, more than the {} that a file may hold",
                            FormatBytes(static_cast<double>(plain.size())),
                            FormatBytes(static_cast<double>(kMaxPlainBytes))));
  }
  const Envelope envelope{plain.size()};
  std::string out(sizeof envelope + ZSTD_compressBound(plain.size()), '\0');
  std::memcpy(out.data(), &envelope, sizeof envelope);
  const size_t length = ZSTD_compress(out.data() + sizeof envelope, out.size() - sizeof envelope,
                                      plain.data(), plain.size(), kCompressionLevel);
  if (ZSTD_isError(length) != 0) {
    return Fail(ErrorCode::kIo, std::string("cannot compress names: ") + ZSTD_getErrorName(length));
  }
  out.resize(sizeof envelope + length);
  return out;
}

Result<std::string> WithNames(std::string gauge, std::string_view names) {
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(MemorySource(gauge), "the copy"));
  uint32_t segment = 1;  // the first one that may be ours: names are always the last
  for (uint32_t kind = 0; kind < wire::kSegmentKinds; ++kind) {
    if (kind == static_cast<uint32_t>(SegmentKind::kNames)) continue;
    for (uint32_t i = 0; i < layout.segment_count(SegmentKind{kind}); ++i) {
      if (const auto offset = layout.SegmentOffset(SegmentKind{kind}, i)) {
        segment = std::max(segment, static_cast<uint32_t>(*offset / wire::kSegmentBytes) + 1);
      }
    }
  }
  const size_t needed = (names.size() + wire::kSegmentBytes - 1) / wire::kSegmentBytes;
  if (segment + needed > wire::kMaxSegments) {
    return Fail(ErrorCode::kUnsupported, "the gauge file is too large to take names as well");
  }
  gauge.resize(size_t{segment} * wire::kSegmentBytes);
  gauge += names;
  gauge.resize((segment + needed) * wire::kSegmentBytes);
  std::vector<uint32_t> words(wire::kMaxSegments - segment);
  for (uint32_t i = 0; i < needed; ++i) words[i] = wire::DirectoryWord(SegmentKind::kNames, i);
  std::memcpy(gauge.data() + wire::kHeaderBytes + segment * sizeof(uint32_t), words.data(),
              words.size() * sizeof(uint32_t));
  wire::Header header = layout.header();
  header.segment_count = static_cast<uint32_t>(segment + needed);
  header.names_bytes = static_cast<uint32_t>(names.size());
  std::memcpy(gauge.data(), &header, sizeof header);
  return gauge;
}

namespace {

tl::unexpected<Error> Damaged(const std::string& name, const char* what) {
  return Fail(ErrorCode::kCorrupt, fmt::format("the names in '{}' are damaged ({}); save the "
                                               "profile again from where it came",
                                               Printable(name), what));
}

}  // namespace

Status AttachNames(std::string_view packed, const std::string& name, Profile* profile) {
  Envelope envelope;
  if (packed.size() < sizeof envelope) return Damaged(name, "cut short");
  std::memcpy(&envelope, packed.data(), sizeof envelope);
  if (envelope.plain_bytes > kMaxPlainBytes) return Damaged(name, "too large");
  std::string plain(envelope.plain_bytes, '\0');
  const size_t got = ZSTD_decompress(plain.data(), plain.size(), packed.data() + sizeof envelope,
                                     packed.size() - sizeof envelope);
  if (ZSTD_isError(got) != 0) return Damaged(name, ZSTD_getErrorName(got));
  if (got != plain.size()) return Damaged(name, "shorter than it says");
  Names names;
  if (!Unpack(plain, &names)) return Damaged(name, "its parts contradict each other");
  Attach(names, profile);
  return {};
}

Status ReadNames(const ByteSource& source, const GaugeLayout& layout, const std::string& name,
                 Profile* profile) {
  const uint32_t size = layout.record_count(SegmentKind::kNames);
  if (size == 0) return {};
  if (size != layout.header().names_bytes) return Damaged(name, "cut short");
  std::string packed(size, '\0');
  for (uint32_t i = 0; i * uint64_t{wire::kSegmentBytes} < size; ++i) {
    const auto offset = layout.SegmentOffset(SegmentKind::kNames, i);
    const size_t at = size_t{i} * wire::kSegmentBytes;
    const size_t length = std::min<size_t>(wire::kSegmentBytes, size - at);
    if (!offset || source.ReadAt(*offset, packed.data() + at, length) != length) {
      return Damaged(name, "a piece is missing");
    }
  }
  return AttachNames(packed, name, profile);
}

}  // namespace heapgauge

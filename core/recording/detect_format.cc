// Tells formats apart by their first bytes: DetectFormat() of read_profile.h.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string_view>

#include "core/base/text.h"
#include "core/formats/dhat/dhat_file.h"
#include "core/formats/heaptrack/heaptrack_parser.h"
#include "core/formats/massif/massif_file.h"
#include "core/formats/pprof/proto_cursor.h"
#include "core/recording/read_profile.h"
#include "core/trace/file/trace_file.h"
#include "wire/gauge_format.h"

namespace heapgauge {
namespace {

// Without control characters, but for those that texts have.
bool IsText(std::string_view bytes) {
  return std::none_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < 0x20 && std::strchr("\t\n\r\f", c) == nullptr) || byte == 0;
  });
}

// The first line that is neither blank nor a comment; what follows it stays in `text`.
std::string_view FirstLine(std::string_view* text) {
  while (!text->empty()) {
    const size_t end = std::min(text->find('\n'), text->size());
    const std::string_view line = Trim(text->substr(0, end));
    text->remove_prefix(std::min(end + 1, text->size()));
    if (!line.empty() && line.front() != '#') return line;
  }
  return {};
}

// "a;b;c 12", also with a fraction or a sign.
bool IsCollapsedLine(std::string_view line) {
  const size_t space = line.find_last_of(" \t");
  if (space == std::string_view::npos || space == 0 || space + 1 == line.size()) return false;
  std::string_view number = line.substr(space + 1);
  if (number.front() == '-') number.remove_prefix(1);
  return !number.empty() && number.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::isdigit(static_cast<unsigned char>(number.front())) != 0;
}

// "goroutine profile: total 12"
bool IsCountHeader(std::string_view line) {
  const size_t at = line.find(" profile: total ");
  return at != std::string_view::npos && line.find(' ') == at;
}

// Words of 4 or 8 bytes in either order: 0, 3 (or more) and 0.
template <size_t kWord>
bool IsCpuHeader(std::string_view start) {
  std::array<uint64_t, 3> little{};
  std::array<uint64_t, 3> big{};
  if (start.size() < 5 * kWord) return false;
  for (size_t i = 0; i < 3 * kWord; ++i) {
    const uint64_t byte = static_cast<unsigned char>(start[i]);
    little[i / kWord] |= byte << (8 * (i % kWord));
    big[i / kWord] = big[i / kWord] << 8 | byte;
  }
  const auto fits = [](const std::array<uint64_t, 3>& words) {
    return words[0] == 0 && words[1] >= 3 && words[1] < 1000 && words[2] == 0;
  };
  return fits(little) || fits(big);
}

// The first field is one of profile.proto, of the right kind.
bool IsProto(std::string_view start) {
  uint64_t tag = 0;
  if (ReadVarint(start.data(), start.data() + start.size(), &tag) == nullptr) return false;
  const uint64_t field = tag >> 3;
  if (field == 0) return false;
  const auto type = static_cast<WireType>(tag & 7);
  const bool is_message = field <= 6 || field == 11;
  if (is_message || (field == 13 && type == WireType::kBytes)) return type == WireType::kBytes;
  if (field <= 15) return type == WireType::kVarint;
  return false;
}

ProfileFormat DetectText(std::string_view text) {
  if (IsMassif(text)) return ProfileFormat::kMassif;
  const std::string_view line = FirstLine(&text);
  if (line.starts_with("heap profile:")) return ProfileFormat::kHeapText;
  if (line.starts_with("heap_v2/") || line.starts_with("heap_v1/")) {
    return ProfileFormat::kJemalloc;
  }
  if (line.starts_with("--- symbol")) return ProfileFormat::kSymbolized;
  if (line.starts_with("--- ") || IsCountHeader(line)) return ProfileFormat::kLegacyText;
  return ProfileFormat::kUnknown;
}

bool IsCollapsed(std::string_view text) {
  const std::string_view line = FirstLine(&text);
  // Of a line that goes on past the bytes at hand only the stack can be seen.
  return IsCollapsedLine(line) || (text.empty() && line.find(';') != std::string_view::npos);
}

}  // namespace

const char* FormatName(ProfileFormat format) {
  switch (format) {
    case ProfileFormat::kUnknown:
      break;
    case ProfileFormat::kGauge:
      return "gauge file";
    case ProfileFormat::kTrace:
      return "trace";
    case ProfileFormat::kPprof:
      return "pprof protobuf";
    case ProfileFormat::kHeapText:
      return "text heap profile";
    case ProfileFormat::kJemalloc:
      return "jemalloc heap profile";
    case ProfileFormat::kSymbolized:
      return "symbolized profile";
    case ProfileFormat::kLegacyText:
      return "contention or thread profile";
    case ProfileFormat::kLegacyCpu:
      return "binary CPU profile";
    case ProfileFormat::kHeaptrack:
      return "heaptrack file";
    case ProfileFormat::kDhat:
      return "DHAT file";
    case ProfileFormat::kCollapsed:
      return "collapsed stacks";
    case ProfileFormat::kMassif:
      return "massif file";
  }
  return "unknown format";
}

ProfileFormat DetectFormat(std::string_view start) {
  if (start.starts_with(std::string_view(wire::kMagic, sizeof wire::kMagic))) {
    return ProfileFormat::kGauge;
  }
  if (IsHeaptrack(start)) return ProfileFormat::kHeaptrack;
  if (IsDhat(start)) return ProfileFormat::kDhat;
  if (trace::IsTrace(start)) return ProfileFormat::kTrace;
  const ProfileFormat text = DetectText(start);
  if (text != ProfileFormat::kUnknown) return text;
  if (IsText(start)) {
    return IsCollapsed(start) ? ProfileFormat::kCollapsed : ProfileFormat::kUnknown;
  }
  if (IsCpuHeader<8>(start) || IsCpuHeader<4>(start)) return ProfileFormat::kLegacyCpu;
  // A gauge file whose writer has not got as far as its first bytes.
  if (start.starts_with(std::string_view("\0\0\0\0\0\0\0\0", 8))) return ProfileFormat::kGauge;
  return IsProto(start) ? ProfileFormat::kPprof : ProfileFormat::kUnknown;
}

}  // namespace heapgauge

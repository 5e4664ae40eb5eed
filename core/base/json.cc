#include "core/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace heapgauge {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool Continues(std::string_view text, size_t at, uint8_t least = 0x80, uint8_t most = 0xbf) {
  if (at >= text.size()) return false;
  const auto byte = static_cast<uint8_t>(text[at]);
  return byte >= least && byte <= most;
}

// How many bytes from `at` on are one character, or the beginning of one that is broken: then
// *broken is set. At least 1.
size_t CharacterAt(std::string_view text, size_t at, bool* broken) {
  const auto lead = static_cast<uint8_t>(text[at]);
  *broken = false;
  if (lead < 0x80) return 1;
  size_t length = 0;
  uint8_t least = 0x80;
  uint8_t most = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) least = 0xa0;  // shorter forms exist
    if (lead == 0xed) most = 0x9f;   // halves of pairs
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) least = 0x90;
    if (lead == 0xf4) most = 0x8f;  // past the last one
  } else {
    *broken = true;
    return 1;
  }
  for (size_t i = 1; i < length; ++i) {
    if (!(i == 1 ? Continues(text, at + 1, least, most) : Continues(text, at + i))) {
      *broken = true;
      return i;
    }
  }
  return length;
}

void AppendText(std::string_view text, std::string* out) {
  *out += '"';
  for (size_t at = 0; at < text.size();) {
    bool broken = false;
    const size_t length = CharacterAt(text, at, &broken);
    const char c = text[at];
    if (broken) {
      *out += kReplacement;
    } else if (length > 1) {
      *out += text.substr(at, length);
    } else if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (static_cast<uint8_t>(c) >= 0x20) {
      *out += c;
    } else if (const size_t known = std::string_view("\b\t\n\f\r").find(c);
               known != std::string_view::npos) {
      *out += '\\';
      *out += "btnfr"[known];
    } else {
      *out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
    at += length;
  }
  *out += '"';
}

// The fewest digits that mean this number, always with a point or an exponent: 3.0, 0.25, 1e+20.
void AppendReal(double value, std::string* out) {
  if (!std::isfinite(value)) {
    *out += "null";
    return;
  }
  constexpr double kLeast = 1e-4;  // written without an exponent
  constexpr double kMost = 1e15;
  const double size = std::fabs(value);
  const bool plain = size == 0 || (size >= kLeast && size < kMost);
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view digits(buffer, static_cast<size_t>(end.ptr - buffer));
  *out += digits;
  if (plain && digits.find('.') == std::string_view::npos) *out += ".0";
}

void NewLine(int depth, std::string* out) {
  if (depth < 0) return;
  *out += '\n';
  out->append(static_cast<size_t>(depth) * 2, ' ');
}

}  // namespace

Json::Json(std::string text) : kind_(Kind::kText), text_(std::move(text)) {}

Json::Json(const std::vector<std::string>& list)
    : kind_(Kind::kList), values_(list.begin(), list.end()) {}
Json::Json(const std::vector<double>& list)
    : kind_(Kind::kList), values_(list.begin(), list.end()) {}
Json::Json(const std::vector<uint32_t>& list)
    : kind_(Kind::kList), values_(list.begin(), list.end()) {}

Json::Json(std::initializer_list<Member> members) : kind_(Kind::kObject) {
  names_.reserve(members.size());
  values_.reserve(members.size());
  for (const Member& member : members) {
    names_.push_back(member.name);
    values_.push_back(std::move(member.value));
  }
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::Array() {
  Json json;
  json.kind_ = Kind::kList;
  return json;
}

Json Json::Object() {
  Json json;
  json.kind_ = Kind::kObject;
  return json;
}

void Json::Add(Json value) {
  kind_ = Kind::kList;
  values_.push_back(std::move(value));
}

Json& Json::operator[](std::string_view name) {
  kind_ = Kind::kObject;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return values_[i];
  }
  names_.emplace_back(name);
  values_.emplace_back();
  return values_.back();
}

void Json::Remove(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return;
  values_.erase(values_.begin() + (found - names_.begin()));
  names_.erase(found);
}

void Json::Merge(Json other) {
  for (size_t i = 0; i < other.names_.size(); ++i) {
    (*this)[other.names_[i]] = std::move(other.values_[i]);
  }
}

std::string Json::Line() const {
  std::string out;
  Append(-1, &out);
  return out;
}

std::string Json::Text() const {
  std::string out;
  Append(0, &out);
  return out + "\n";
}

void Json::Append(int depth, std::string* out) const {
  switch (kind_) {
    case Kind::kNull:
      *out += "null";
      return;
    case Kind::kBool:
      *out += natural_ != 0 ? "true" : "false";
      return;
    case Kind::kInteger:
      *out += std::to_string(static_cast<int64_t>(natural_));
      return;
    case Kind::kNatural:
      *out += std::to_string(natural_);
      return;
    case Kind::kReal:
      AppendReal(real_, out);
      return;
    case Kind::kText:
      AppendText(text_, out);
      return;
    case Kind::kList:
    case Kind::kObject:
      break;
  }
  const bool is_object = kind_ == Kind::kObject;
  const int inside = depth < 0 ? depth : depth + 1;
  *out += is_object ? '{' : '[';
  for (size_t i = 0; i < values_.size(); ++i) {
    if (i > 0) *out += ',';
    NewLine(inside, out);
    if (is_object) {
      AppendText(names_[i], out);
      *out += depth < 0 ? ":" : ": ";
    }
    values_[i].Append(inside, out);
  }
  if (!values_.empty()) NewLine(depth, out);
  *out += is_object ? '}' : ']';
}

}  // namespace heapgauge

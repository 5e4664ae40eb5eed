#include "core/formats/dhat/dhat_file.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/base/text.h"
#include "core/formats/text/scan.h"

namespace heapgauge {
namespace {

// Takes ":12" off the end; false if there is none.
bool TakeNumberAtEnd(std::string_view* text, uint32_t* number) {
  const size_t colon = text->rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  size_t at = colon + 1;
  int64_t value = 0;
  if (at >= text->size() || !IsDigit((*text)[at]) ||
      TakeDecimal(*text, &at, &value) != Taken::kYes || at != text->size() || value > UINT32_MAX) {
    return false;
  }
  *number = static_cast<uint32_t>(value);
  text->remove_suffix(text->size() - colon);
  return true;
}

// "in /usr/lib/x.so", "p.cc:5" or "alloc.rs:83:14"
void ParsePlace(std::string_view place, DhatFrame* frame) {
  if (place.starts_with("in ")) {
    frame->module = place.substr(3);
    return;
  }
  uint32_t last = 0;
  if (TakeNumberAtEnd(&place, &last)) {
    if (TakeNumberAtEnd(&place, &frame->line)) {
      frame->column = last;
    } else {
      frame->line = last;
    }
  }
  frame->file = place;
}

}  // namespace

DhatFrame ParseDhatFrame(std::string_view text) {
  DhatFrame frame;
  size_t at = 0;
  if (TakeText(text, &at, "0x") && TakeHex(text, &at, &frame.address) == Taken::kYes &&
      TakeText(text, &at, ": ")) {
    frame.has_address = true;
    text.remove_prefix(at);
  } else {
    frame.address = 0;
  }
  const size_t open = text.rfind(" (");
  if (text.ends_with(')') && open != std::string_view::npos) {
    const std::string_view place = text.substr(open + 2, text.size() - open - 3);
    // Otherwise it may be the parameters of a function: "operator() (int)".
    if (place.starts_with("in ") || place.find(':') != std::string_view::npos) {
      ParsePlace(place, &frame);
      text = text.substr(0, open);
    }
  }
  if (text != "???") frame.function = text;
  return frame;
}

bool IsDhat(std::string_view start) {
  size_t at = 0;
  while (at < start.size() && (IsBlank(start[at]) || start[at] == '\n')) ++at;
  return at < start.size() && start[at] == '{' &&
         start.find("\"dhatFileVersion\"") != std::string_view::npos;
}

std::vector<DhatType> DhatTypes(const DhatFacts& facts) {
  const std::string bytes = facts.bytes_unit.empty() ? "bytes" : facts.bytes_unit;
  // dhat-rs puts "rust-" in front of the modes.
  if (facts.mode.ends_with("ad-hoc")) {
    return {{{"events", "count"}, &DhatPoint::blocks}, {{"event_units", bytes}, &DhatPoint::bytes}};
  }
  if (facts.mode.ends_with("copy")) {
    return {{{"copies", "count"}, &DhatPoint::blocks},
            {{"copied_space", bytes}, &DhatPoint::bytes}};
  }
  std::vector<DhatType> types = {{{"alloc_objects", "count"}, &DhatPoint::blocks},
                                 {{"alloc_space", bytes}, &DhatPoint::bytes}};
  if (facts.has_lifetimes) {
    types.push_back({{"inuse_objects", "count"}, &DhatPoint::end_blocks});
    types.push_back({{"inuse_space", bytes}, &DhatPoint::end_bytes});
    types.push_back({{"peak_objects", "count"}, &DhatPoint::peak_blocks});
    types.push_back({{"peak_space", bytes}, &DhatPoint::peak_bytes});
    types.push_back({{"own_peak_objects", "count"}, &DhatPoint::max_blocks});
    types.push_back({{"own_peak_space", bytes}, &DhatPoint::max_bytes});
    types.push_back({{"lifetimes", facts.time_unit.empty() ? "instrs" : facts.time_unit},
                     &DhatPoint::lifetimes});
  }
  if (facts.has_accesses) {
    types.push_back({{"read_space", "bytes"}, &DhatPoint::read_bytes});
    types.push_back({{"written_space", "bytes"}, &DhatPoint::written_bytes});
  }
  return types;
}

uint64_t DhatUnitNs(const std::string& unit) {
  if (unit == "ns") return 1;
  if (unit == "µs" || unit == "us") return 1000;
  if (unit == "ms") return 1000000;
  if (unit == "s") return 1000000000;
  return 0;
}

namespace {

constexpr const char* kFormat = "DHAT file";
constexpr uint64_t kVersion = 2;
constexpr uint64_t kMaxToken = 16 << 20;
constexpr size_t kMaxFrames = 65535;

// The bytes of a stream, for iterators that are copied about.
class Input {
 public:
  explicit Input(ByteStream* stream) : stream_(stream), buffer_(64 << 10) { Fill(); }

  bool at_end() const { return at_ == end_; }
  char Get() const { return buffer_[at_]; }
  void Next() {
    if (++at_ == end_) Fill();
    // What is too long ends here, and with it the input.
    if (offset() - token_ > kMaxToken) {
      too_long_ = true;
      at_ = end_ = 0;
    }
  }

  // A string or number has ended.
  void TokenEnded() { token_ = offset(); }
  uint64_t offset() const { return base_ + at_; }
  bool too_long() const { return too_long_; }
  const Status& status() const { return status_; }

 private:
  void Fill() {
    base_ += end_;
    at_ = end_ = 0;
    Result<size_t> got = stream_->Read(buffer_.data(), buffer_.size());
    if (got) {
      end_ = *got;
    } else {
      status_ = tl::unexpected<Error>(std::move(got).error());
    }
  }

  ByteStream* stream_;
  std::vector<char> buffer_;
  uint64_t base_ = 0;
  size_t at_ = 0;
  size_t end_ = 0;
  uint64_t token_ = 0;  // where the last one ended
  bool too_long_ = false;
  Status status_;
};

class InputIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit InputIterator(Input* input) : input_(input) {}
  char operator*() const { return input_->Get(); }
  InputIterator& operator++() {
    input_->Next();
    return *this;
  }
  // Only ever compared with the end.
  friend bool operator==(const InputIterator& a, const InputIterator& b) {
    const Input* input = a.input_ != nullptr ? a.input_ : b.input_;
    return input == nullptr || input->at_end();
  }
  friend bool operator!=(const InputIterator& a, const InputIterator& b) { return !(a == b); }

 private:
  Input* input_;  // nullptr: the end
};

class Handler {
 public:
  Handler(Input* input, std::string name, DhatVisitor* visitor)
      : input_(input), name_(std::move(name)), visitor_(visitor) {}

  // Called by the parser.
  bool null() { return Other(); }
  bool boolean(bool value) {
    input_->TokenEnded();
    if (!AtFact()) return Other();
    if (key_ == "bklt") facts_.has_lifetimes = value;
    if (key_ == "bkacc") facts_.has_accesses = value;
    return true;
  }
  bool number_integer(int64_t value) { return Number(value < 0, static_cast<uint64_t>(value)); }
  bool number_unsigned(uint64_t value) { return Number(false, value); }
  bool number_float(double value, const std::string& /*text*/) {
    // Times of dhat-rs and weights may have a fraction; what is no whole number at all may not.
    if (!(value >= 0) || value >= 9e18) return Number(true, 0);
    return Number(false, static_cast<uint64_t>(value));
  }
  bool string(std::string& text) {
    input_->TokenEnded();
    if (in_table_ && depth_ == 2) {
      ++table_;
      return Done(visitor_->FrameText(text));
    }
    if (AtFact()) SetText(text);
    return Other();
  }
  bool binary(const nlohmann::json::binary_t& /*bytes*/) { return false; }
  bool start_object(size_t /*count*/) {
    if (depth_ == 0) is_object_ = true;
    if (in_points_ && depth_ == 2) BeginPoint();
    ++depth_;
    return true;
  }
  bool key(const std::string& name) {
    input_->TokenEnded();
    if (depth_ == 1) {
      key_ = name;
      in_points_ = key_ == "pps";
      in_table_ = key_ == "ftbl";
      has_points_ |= in_points_;
      has_table_ |= in_table_;
    } else if (in_points_ && depth_ == 3) {
      key_ = name;
    }
    return true;
  }
  bool end_object() {
    --depth_;
    if (in_points_ && depth_ == 2) return EndPoint();
    return true;
  }
  bool start_array(size_t /*count*/) {
    ++depth_;
    return true;
  }
  bool end_array() {
    --depth_;
    return true;
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    if (!input_->status()) {
      error_ = input_->status().error();
    } else if (input_->too_long()) {
      SetError(ErrorCode::kUnsupported, "a string of more than 16 MB, which no DHAT file has");
    } else {
      // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..."
      std::string_view what = error.what();
      const size_t colon = what.find("column ");
      const size_t text = colon == std::string_view::npos ? colon : what.find(": ", colon);
      if (text != std::string_view::npos) what.remove_prefix(text + 2);
      SetError(input_->at_end() ? ErrorCode::kTruncated : ErrorCode::kCorrupt,
               "not JSON: " + Printable(what.substr(0, 200)));
    }
    return false;
  }

  Result<DhatFacts> Finish(bool parsed) {
    if (!parsed) return tl::unexpected<Error>(std::move(error_));
    if (!is_object_ || !has_version_) {
      return Bad(ErrorCode::kNotRecognized, "there is no dhatFileVersion");
    }
    if (!has_points_ || !has_table_) {
      return Bad(ErrorCode::kCorrupt, has_points_ ? "there is no frame table (ftbl)"
                                                  : "there are no program points (pps)");
    }
    return facts_;
  }

 private:
  using Member = uint64_t DhatPoint::*;

  bool AtFact() const { return depth_ == 1; }

  // A value that nobody asked for.
  bool Other() {
    input_->TokenEnded();
    return true;
  }

  bool Number(bool negative, uint64_t value) {
    input_->TokenEnded();
    if (in_points_ && depth_ == 3) return PointNumber(negative, value);
    if (in_points_ && depth_ == 4 && key_ == "fs") return AddFrame(negative, value);
    if (!AtFact()) return true;
    if (key_ == "dhatFileVersion") {
      has_version_ = true;
      if (value != kVersion || negative) {
        return SetError(
            ErrorCode::kUnsupported,
            fmt::format("file version {} is not {}, the one that is known here", value, kVersion));
      }
    }
    if (negative) return true;
    if (key_ == "pid") facts_.pid = static_cast<uint32_t>(value);
    if (key_ == "te") facts_.end_time = value;
    if (key_ == "tg") facts_.peak_time = value;
    if (key_ == "tuth") facts_.short_lifetime = value;
    return true;
  }

  void SetText(const std::string& text) {
    static constexpr std::pair<std::string_view, std::string DhatFacts::*> kTexts[] = {
        {"mode", &DhatFacts::mode},        {"verb", &DhatFacts::verb},
        {"bu", &DhatFacts::byte_unit},     {"bsu", &DhatFacts::bytes_unit},
        {"bksu", &DhatFacts::blocks_unit}, {"tu", &DhatFacts::time_unit},
        {"Mtu", &DhatFacts::million_unit}, {"cmd", &DhatFacts::command},
    };
    for (const auto& [name, member] : kTexts) {
      if (key_ == name) facts_.*member = text;
    }
  }

  void BeginPoint() {
    point_ = {};
    frames_.clear();
    has_total_ = false;
  }

  bool PointNumber(bool negative, uint64_t value) {
    static constexpr std::pair<std::string_view, Member> kNumbers[] = {
        {"tb", &DhatPoint::bytes},         {"tbk", &DhatPoint::blocks},
        {"tl", &DhatPoint::lifetimes},     {"mb", &DhatPoint::max_bytes},
        {"mbk", &DhatPoint::max_blocks},   {"gb", &DhatPoint::peak_bytes},
        {"gbk", &DhatPoint::peak_blocks},  {"eb", &DhatPoint::end_bytes},
        {"ebk", &DhatPoint::end_blocks},   {"rb", &DhatPoint::read_bytes},
        {"wb", &DhatPoint::written_bytes},
    };
    for (const auto& [name, member] : kNumbers) {
      if (key_ != name) continue;
      if (negative || value > INT64_MAX) {
        return SetError(ErrorCode::kCorrupt,
                        fmt::format("\"{}\" is no whole number below 2^63", name));
      }
      point_.*member = value;
      has_total_ |= name == "tb";
    }
    return true;
  }

  bool AddFrame(bool negative, uint64_t value) {
    if (negative || value >= UINT32_MAX) {
      return SetError(ErrorCode::kCorrupt, "\"fs\" names a frame that cannot be");
    }
    if (frames_.size() >= kMaxFrames) {
      return SetError(ErrorCode::kCorrupt, "the stack has more than 65535 frames");
    }
    frames_.push_back(static_cast<uint32_t>(value));
    return true;
  }

  bool EndPoint() {
    if (!has_total_) return SetError(ErrorCode::kCorrupt, "a program point without \"tb\"");
    return Done(visitor_->Point(point_, frames_));
  }

  bool Done(Status status) {
    if (status) return true;
    return SetError(status.error().code, status.error().message);
  }

  tl::unexpected<Error> Bad(ErrorCode code, const std::string& what) const {
    const uint64_t offset = input_->offset();
    return Fail(code, fmt::format("{}: {}: byte {}: {}", kFormat, Printable(name_), offset, what),
                offset);
  }
  bool SetError(ErrorCode code, const std::string& what) {
    error_ = Bad(code, what).value();
    return false;
  }

  Input* input_;
  std::string name_;
  DhatVisitor* visitor_;
  DhatFacts facts_;
  Error error_;
  size_t depth_ = 0;
  std::string key_;
  bool is_object_ = false;
  bool has_version_ = false;
  bool in_points_ = false;
  bool in_table_ = false;
  bool has_points_ = false;
  bool has_table_ = false;
  uint64_t table_ = 0;
  DhatPoint point_;
  bool has_total_ = false;
  std::vector<uint32_t> frames_;
};

}  // namespace

Result<DhatFacts> ParseDhat(ByteStream* stream, const std::string& name, DhatVisitor* visitor) {
  Input input(stream);
  Handler handler(&input, name, visitor);
  const bool parsed = nlohmann::json::sax_parse(InputIterator(&input), InputIterator(nullptr),
                                                &handler, nlohmann::json::input_format_t::json);
  return handler.Finish(parsed);
}

}  // namespace heapgauge

#include "endpoint/http/request_parser.h"

#include <algorithm>

#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge::endpoint {
namespace {

constexpr size_t kMostMethod = 32;
constexpr std::string_view kBlanks = " \t";

bool IsTokenChar(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

// Printable ASCII without blanks.
bool IsTargetText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool IsFieldText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

}  // namespace

bool ListHas(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (EqualIgnoringCase(Trim(TakeUntil(&list, ','), kBlanks), word)) return true;
  }
  return false;
}

HeadParser::State HeadParser::Bad(int status, const char* reason) {
  status_ = status;
  reason_ = reason;
  return State::kBad;
}

HeadParser::State HeadParser::Parse(std::string_view input) {
  while (true) {
    const size_t newline = input.find('\n', at_);
    const size_t end = newline == std::string_view::npos ? input.size() : newline + 1;
    if (end > most_bytes_) {
      return has_request_line_ ? Bad(431, "the header fields are too long")
                               : Bad(414, "the request line is too long");
    }
    if (newline == std::string_view::npos) {
      // What speaks another protocol is known by its first byte.
      if (!has_request_line_ && at_ < input.size() && input[at_] != '\r' &&
          !IsTokenChar(input[at_])) {
        return Bad(400, "this is not HTTP; TLS is not spoken here");
      }
      return State::kMore;
    }
    if (newline == at_ || input[newline - 1] != '\r') {
      return Bad(400, "lines must end in CR LF");
    }
    const std::string_view line = input.substr(at_, newline - 1 - at_);
    at_ = end;
    if (!has_request_line_) {
      if (line.empty()) continue;  // left over behind the last request
      if (!RequestLine(line)) return State::kBad;
      has_request_line_ = true;
    } else if (line.empty()) {
      return Finish();
    } else if (!Field(line)) {
      return State::kBad;
    }
  }
}

bool HeadParser::RequestLine(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    Bad(400, "the request line must be: METHOD TARGET HTTP/1.1");
    return false;
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view version = line.substr(last + 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.size() != 8 || version.substr(0, 5) != "HTTP/" || !is_digit(version[5]) ||
      version[6] != '.' || !is_digit(version[7])) {
    Bad(400, "the request line must be: METHOD TARGET HTTP/1.1");
    return false;
  }
  if (version[5] != '1') {
    Bad(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    return false;
  }
  head_.minor = version[7] == '0' ? 0 : 1;
  if (!IsToken(method) || method.size() > kMostMethod) {
    Bad(400, "the method is malformed");
    return false;
  }
  head_.method = method;
  return Target(line.substr(first + 1, last - first - 1));
}

bool HeadParser::Target(std::string_view target) {
  constexpr std::string_view kHttp = "http://";
  if (!IsTargetText(target) || target.find('#') != std::string_view::npos) {
    Bad(400, "the request target has characters that must be percent-encoded");
    return false;
  }
  if (EqualIgnoringCase(target.substr(0, kHttp.size()), kHttp)) {
    target.remove_prefix(kHttp.size());
    const size_t end = std::min(target.find_first_of("/?"), target.size());
    head_.authority = target.substr(0, end);
    target.remove_prefix(end);
    if (head_.authority.empty()) {
      Bad(400, "the request target has no host");
      return false;
    }
    if (target.empty() || target[0] == '?') {
      head_.path = "/";
      head_.query = target.empty() ? target : target.substr(1);
      return true;
    }
  }
  const bool is_star = target == "*" && head_.method == "OPTIONS";
  if (!is_star && (target.empty() || target[0] != '/')) {
    Bad(400, "the request target must start with '/'");
    return false;
  }
  const size_t mark = std::min(target.find('?'), target.size());
  head_.path = target.substr(0, mark);
  head_.query = target.substr(std::min(mark + 1, target.size()));
  return true;
}

bool HeadParser::Field(std::string_view line) {
  if (head_.headers.size() == kMostFields) {
    Bad(431, "there are more than 100 header fields");
    return false;
  }
  if (line[0] == ' ' || line[0] == '\t') {
    Bad(400, "header fields must not be folded");
    return false;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    Bad(400, "a header field must be: Name: value");
    return false;
  }
  const std::string_view value = Trim(line.substr(colon + 1), kBlanks);
  if (!IsFieldText(value)) {
    Bad(400, "a header field has control characters");
    return false;
  }
  head_.headers.emplace_back(line.substr(0, colon), value);
  return true;
}

HeadParser::State HeadParser::Finish() {
  if (!Framing()) return State::kBad;
  int hosts = 0;
  bool close = false;
  bool keep = false;
  for (const auto& [name, value] : head_.headers) {
    if (EqualIgnoringCase(name, "Host")) ++hosts;
    if (EqualIgnoringCase(name, "Connection")) {
      close = close || ListHas(value, "close");
      keep = keep || ListHas(value, "keep-alive");
    }
    if (EqualIgnoringCase(name, "Expect") && head_.minor >= 1) {
      if (!EqualIgnoringCase(value, "100-continue"))
        return Bad(417, "only 100-continue can be expected");
      head_.expects_continue = true;
    }
  }
  if (hosts > 1) return Bad(400, "there is more than one Host");
  if (hosts == 0 && head_.minor >= 1) return Bad(400, "Host is missing");
  head_.keep_alive = !close && (head_.minor >= 1 || keep);
  return State::kDone;
}

// Where the request ends: exactly one way of telling it.
bool HeadParser::Framing() {
  int lengths = 0;
  int codings = 0;
  for (const auto& [name, value] : head_.headers) {
    if (EqualIgnoringCase(name, "Content-Length")) {
      ++lengths;
      const bool digits = !value.empty() && value.size() <= 18 &&
                          value.find_first_not_of("0123456789") == std::string::npos;
      if (!digits) {
        Bad(400, "Content-Length is not a number");
        return false;
      }
      head_.content_length = *NumberIn<uint64_t>(value);
    } else if (EqualIgnoringCase(name, "Transfer-Encoding")) {
      ++codings;
      if (!EqualIgnoringCase(value, "chunked")) {
        Bad(501, "the only transfer coding known is chunked");
        return false;
      }
      head_.chunked = true;
    }
  }
  if (lengths > 1) {
    Bad(400, "there is more than one Content-Length");
  } else if (lengths != 0 && codings != 0) {
    Bad(400, "Content-Length and Transfer-Encoding exclude each other");
  } else if (codings > 1) {
    Bad(400, "there is more than one Transfer-Encoding");
  } else if (codings != 0 && head_.minor == 0) {
    Bad(400, "HTTP/1.0 has no Transfer-Encoding");
  } else {
    return true;
  }
  return false;
}

ChunkDecoder::State ChunkDecoder::SizeLine(std::string_view line) {
  const std::string_view extensions = line.substr(std::min(line.find(';'), line.size()));
  const bool is_text = std::all_of(extensions.begin(), extensions.end(),
                                   [](char c) { return c == '\t' || (c >= 0x20 && c < 0x7f); });
  line.remove_suffix(extensions.size());
  const auto size = NumberIn<uint64_t>(line, 16);
  if (!is_text || line.size() > 8 || !size) return State::kBad;
  left_ = *size;
  if (left_ > most_bytes_ - got_) return State::kTooLarge;
  expect_ = left_ == 0 ? Expect::kTrailer : Expect::kData;
  return State::kMore;
}

ChunkDecoder::State ChunkDecoder::Decode(std::string_view* input, std::string* body) {
  while (true) {
    if (expect_ == Expect::kData) {
      const size_t take = static_cast<size_t>(std::min<uint64_t>(left_, input->size()));
      body->append(input->substr(0, take));
      input->remove_prefix(take);
      left_ -= take;
      got_ += take;
      if (left_ != 0) return State::kMore;
      expect_ = Expect::kDataEnd;
    }
    const size_t newline = input->find('\n');
    if (newline == std::string_view::npos) {
      const size_t most = expect_ == Expect::kDataEnd ? 1 : kMostLine;
      return input->size() > most ? State::kBad : State::kMore;
    }
    if (newline == 0 || newline > kMostLine || (*input)[newline - 1] != '\r') return State::kBad;
    const std::string_view line = input->substr(0, newline - 1);
    input->remove_prefix(newline + 1);
    if (expect_ == Expect::kDataEnd) {
      if (!line.empty()) return State::kBad;
      expect_ = Expect::kSize;
    } else if (expect_ == Expect::kTrailer) {
      if (line.empty()) return State::kDone;
      trailers_ += line.size();
      if (trailers_ > kMostTrailers) return State::kBad;
    } else if (const State state = SizeLine(line); state != State::kMore) {
      return state;
    }
  }
}

}  // namespace heapgauge::endpoint

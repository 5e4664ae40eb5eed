#include "endpoint/http/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "core/base/sinks.h"
#include "core/base/text.h"

namespace heapgauge::endpoint {
namespace {

// Smaller is not worth it; larger would keep others waiting.
constexpr size_t kLeastToCompress = 1024;
constexpr size_t kMostToCompress = size_t{32} << 20;

bool IsName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

void AddField(std::string_view name, std::string_view value, std::string* head) {
  if (!IsName(name)) return;
  *head += name;
  *head += ": ";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    *head += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  *head += "\r\n";
}

std::string Date() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     kDays[static_cast<size_t>(parts.tm_wday)], parts.tm_mday,
                     kMonths[static_cast<size_t>(parts.tm_mon)], parts.tm_year + 1900,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

bool IsText(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return EqualIgnoringCase(type.substr(0, 5), "text/") ||
         EqualIgnoringCase(type, "application/json") || EqualIgnoringCase(type, "image/svg+xml");
}

void CompressText(bool wanted, Response* response) {
  if (response->body.size() < kLeastToCompress || response->body.size() > kMostToCompress) return;
  if (!IsText(response->Header("Content-Type")) || !response->Header("Content-Encoding").empty()) {
    return;
  }
  response->headers.emplace_back("Vary", "Accept-Encoding");
  if (!wanted) return;
  StringSink out;
  GzipSink gzip(&out);
  if (!gzip.Write(response->body) || !gzip.Finish()) return;
  response->body = out.Take();
  response->headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

std::string_view StatusName(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

bool TakesGzip(std::string_view list) {
  while (!list.empty()) {
    std::string part(TakeUntil(&list, ','));
    part.erase(std::remove(part.begin(), part.end(), ' '), part.end());
    const std::string_view word = std::string_view(part).substr(0, part.find(';'));
    if (!EqualIgnoringCase(word, "gzip")) continue;
    const std::string_view weight = std::string_view(part).substr(word.size());
    return weight.substr(0, 3) != ";q=" ||
           weight.find_first_of("123456789", 3) != std::string_view::npos;
  }
  return false;
}

Answer MakeAnswer(Response response, const AnswerOptions& options) {
  CompressText(options.gzip, &response);
  Answer answer;
  const int status = response.status >= 200 && response.status <= 599 ? response.status : 500;
  answer.head = fmt::format("HTTP/1.1 {} {}\r\n", status, StatusName(status));
  for (const auto& [name, value] : response.headers) {
    const bool ours =
        EqualIgnoringCase(name, "Content-Length") || EqualIgnoringCase(name, "Connection") ||
        EqualIgnoringCase(name, "Transfer-Encoding") || EqualIgnoringCase(name, "Date");
    if (!ours) AddField(name, value, &answer.head);
  }
  if (response.Header("X-Content-Type-Options").empty()) {
    AddField("X-Content-Type-Options", "nosniff", &answer.head);
  }
  if (response.Header("Cache-Control").empty()) AddField("Cache-Control", "no-store", &answer.head);
  AddField("Date", Date(), &answer.head);
  const bool has_body = status != 204 && status != 304;
  if (has_body && !(options.is_head && response.body.empty())) {
    AddField("Content-Length", std::to_string(response.body.size()), &answer.head);
  }
  if (!options.keep_alive) {
    AddField("Connection", "close", &answer.head);
  } else if (options.old_version) {
    AddField("Connection", "keep-alive", &answer.head);
  }
  answer.head += "\r\n";
  if (has_body && !options.is_head) answer.body = std::move(response.body);
  return answer;
}

}  // namespace heapgauge::endpoint

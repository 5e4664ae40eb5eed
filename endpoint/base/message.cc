#include "endpoint/base/message.h"

#include <strings.h>

#include <algorithm>

#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge::endpoint {

bool IsCrossSite(std::string_view fetch_site, std::string_view origin, std::string_view host) {
  if (!fetch_site.empty() && !EqualIgnoringCase(fetch_site, "same-origin") &&
      !EqualIgnoringCase(fetch_site, "none")) {
    return true;
  }
  if (origin.empty()) return false;
  // https: behind a proxy that speaks TLS. Other schemes, and "null", are other pages.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return !EqualIgnoringCase(origin.substr(scheme.size()), host);
  }
  return true;
}

namespace {

constexpr size_t kMostPieces = 64;

std::string_view FindHeader(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key.size() == name.size() && strncasecmp(key.data(), name.data(), name.size()) == 0) {
      return value;
    }
  }
  return {};
}

}  // namespace

std::string_view Request::Header(std::string_view name) const { return FindHeader(headers, name); }
bool Request::is_cross_site() const {
  return IsCrossSite(Header("Sec-Fetch-Site"), Header("Origin"), Header("Host"));
}
std::string_view Response::Header(std::string_view name) const { return FindHeader(headers, name); }

Response PlainText(int status, std::string text) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text)};
}

Response ErrorText(int status, std::string text) {
  if (text.empty() || text.back() != '\n') text += '\n';
  Response response = PlainText(status, std::move(text));
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("X-Go-Pprof", "1");
  return response;
}

Response MethodNotAllowed(std::string_view allow) {
  Response response = ErrorText(405, "this needs one of: " + std::string(allow));
  response.headers.emplace_back("Allow", allow);
  return response;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return {};
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return {};
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return {};
    out += c;
  }
  return out;
}

std::optional<Headers> ParseQuery(std::string_view query, size_t most) {
  Headers parameters;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    if (parameters.size() == most) return {};
    std::string with_blanks(part);
    std::replace(with_blanks.begin(), with_blanks.end(), '+', ' ');
    const size_t equals = std::min(with_blanks.find('='), with_blanks.size());
    auto key = PercentDecode(std::string_view(with_blanks).substr(0, equals));
    auto value = PercentDecode(
        std::string_view(with_blanks).substr(std::min(equals + 1, with_blanks.size())));
    if (!key || !value) return {};
    parameters.emplace_back(*std::move(key), *std::move(value));
  }
  return parameters;
}

std::optional<Path> ParsePath(std::string_view path) {
  Path result;
  if (path.empty() || path[0] != '/') return {};
  result.folder = path.back() == '/';
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view piece = path.substr(0, path.find('/'));
    path.remove_prefix(piece.size());
    if (piece.empty()) continue;
    auto decoded = PercentDecode(piece);
    if (!decoded || *decoded == ".." || result.pieces.size() == kMostPieces) return {};
    if (*decoded != ".") result.pieces.push_back(*std::move(decoded));
  }
  return result;
}

}  // namespace heapgauge::endpoint

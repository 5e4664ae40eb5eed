#include "endpoint/http/access.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "core/base/file.h"
#include "core/base/text.h"
#include "endpoint/base/message.h"

namespace heapgauge::endpoint {
namespace {

constexpr size_t kShortestToken = 16;
constexpr size_t kLongestToken = 4096;

bool StartsWith(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && EqualIgnoringCase(text.substr(0, start.size()), start);
}

int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string out;
  uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    const int digit = Base64Digit(c);
    if (digit < 0) return {};
    bits = bits << 6 | static_cast<uint32_t>(digit);
    have += 6;
    if (have >= 8) {
      have -= 8;
      out += static_cast<char>(bits >> have & 0xff);
    }
  }
  return out;
}

std::string_view FieldOf(const RequestHead& head, std::string_view name) {
  for (const auto& [key, value] : head.headers) {
    if (EqualIgnoringCase(key, name)) return value;
  }
  return {};
}

bool Changes(const std::string& method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

}  // namespace

bool SameSecret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  volatile unsigned char difference = given.size() == secret.size() ? 0 : 1;
  size_t at = 0;
  for (const char c : given) {
    const char other = secret[at];
    difference = static_cast<unsigned char>(difference | (c ^ other));
    at = at + 1 == secret.size() ? 0 : at + 1;
  }
  return difference == 0;
}

bool BringsToken(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kBearer = "Bearer ";
  constexpr std::string_view kBasic = "Basic ";
  if (StartsWith(authorization, kBearer)) {
    return SameSecret(authorization.substr(kBearer.size()), token);
  }
  if (!StartsWith(authorization, kBasic)) return false;
  const auto decoded = DecodeBase64(authorization.substr(kBasic.size()));
  if (!decoded) return false;
  const size_t colon = decoded->find(':');
  if (colon == std::string::npos) return false;
  return SameSecret(std::string_view(*decoded).substr(colon + 1), token);
}

bool IsOwnHost(std::string_view host) {
  std::string_view name = host;
  if (!name.empty() && name[0] == '[') {
    const size_t end = name.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view rest = name.substr(end + 1);
    if (!rest.empty() && rest[0] != ':') return false;
    in6_addr v6{};
    return inet_pton(AF_INET6, std::string(name.substr(1, end - 1)).c_str(), &v6) == 1;
  }
  name = name.substr(0, name.find(':'));
  if (EqualIgnoringCase(name, "localhost")) return true;
  in_addr v4{};
  return inet_pton(AF_INET, std::string(name).c_str(), &v4) == 1;
}

std::optional<Response> Refuse(const RequestHead& head, const AccessRules& rules) {
  const std::string_view sent_host = FieldOf(head, "Host");
  const std::string_view host = head.authority.empty() ? sent_host : head.authority;
  if (rules.only_own_host && rules.token.empty()) {
    // Without any Host it is no browser.
    if ((!host.empty() && !IsOwnHost(host)) || (!sent_host.empty() && !IsOwnHost(sent_host))) {
      return ErrorText(421,
                       "this server answers to IP addresses and localhost; to reach it by another "
                       "name, start it with a token");
    }
  }
  if (!rules.token.empty() && !BringsToken(FieldOf(head, "Authorization"), rules.token)) {
    Response response = ErrorText(
        401, "a token is needed: as password (http://any:TOKEN@host/...) or Authorization: Bearer");
    response.headers.emplace_back("WWW-Authenticate",
                                  "Basic realm=\"heapgauge\", charset=\"UTF-8\"");
    return response;
  }
  const std::string_view site = FieldOf(head, "Sec-Fetch-Site");
  const bool foreign_site =
      EqualIgnoringCase(site, "cross-site") || EqualIgnoringCase(site, "same-site");
  if (Changes(head.method)) {
    if (IsCrossSite(site, FieldOf(head, "Origin"), host)) {
      return ErrorText(403, "a page of another site may not change anything here");
    }
  } else if (foreign_site && !EqualIgnoringCase(FieldOf(head, "Sec-Fetch-Mode"), "navigate")) {
    return ErrorText(403, "a page of another site may link here, but not load anything");
  }
  return {};
}

Result<std::string> ReadTokenFile(const std::string& path) {
  const std::string name = "the token file '" + Printable(path) + "'";
  auto file = File::OpenForReading(path);
  if (!file) return tl::unexpected<Error>(file.error());
  struct stat st {};
  if (fstat(file->fd(), &st) != 0) {
    return tl::unexpected<Error>(SystemError("cannot look at " + name, errno));
  }
  if ((st.st_mode & 077) != 0) {
    return Fail(ErrorCode::kPermission,
                name + " can be read by others; run: chmod 600 " + Printable(path));
  }
  std::string text(kLongestToken + 1, '\0');
  text.resize(file->ReadAt(0, text.data(), text.size()));
  const std::string_view line = Trim(std::string_view(text).substr(0, text.find('\n')), " \t\r");
  const auto is_text = [](char c) { return c > 0x20 && c < 0x7f; };
  if (line.size() > kLongestToken || !std::all_of(line.begin(), line.end(), is_text)) {
    return Fail(ErrorCode::kInvalidArgument,
                name + " has no token in its first line: at most 4096 letters, digits and signs");
  }
  if (line.size() < kShortestToken) {
    return Fail(ErrorCode::kInvalidArgument,
                name +
                    " must have a token of at least 16 characters in its first line; make one "
                    "with: (umask 077; openssl rand -hex 16 > FILE)");
  }
  return std::string(line);
}

}  // namespace heapgauge::endpoint

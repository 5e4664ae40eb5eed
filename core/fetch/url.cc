#include "core/fetch/url.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

std::string Decode(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      plain += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
               HexDigit(text[i + 2]) >= 0) {
      plain += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::string Encode(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string coded;
  for (const char c : text) {
    if (IsPlain(c)) {
      coded += c;
    } else if (c == ' ') {
      coded += '+';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      coded += '%';
      coded += kDigits[byte >> 4];
      coded += kDigits[byte & 15];
    }
  }
  return coded;
}

using Parameters = std::vector<std::pair<std::string, std::string>>;

Parameters SplitQuery(std::string_view query) {
  Parameters parameters;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view item = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (item.empty()) continue;
    const size_t equals = std::min(item.find('='), item.size());
    parameters.emplace_back(Decode(item.substr(0, equals)),
                            equals < item.size() ? Decode(item.substr(equals + 1)) : std::string());
  }
  return parameters;
}

std::string JoinQuery(Parameters parameters) {
  std::stable_sort(parameters.begin(), parameters.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string query;
  for (const auto& [key, value] : parameters) {
    query += (query.empty() ? "" : "&") + Encode(key) + "=" + Encode(value);
  }
  return query;
}

}  // namespace

std::string Url::Text() const {
  return scheme + "://" + host + path + (query.empty() ? "" : "?" + query);
}

std::optional<Url> ParseUrl(std::string_view text) {
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  Url url;
  url.scheme = LowerCase(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https" && url.scheme != "https+insecure") {
    return std::nullopt;
  }
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find('#'));
  const size_t question = std::min(text.find('?'), text.size());
  if (question < text.size()) url.query = text.substr(question + 1);
  text = text.substr(0, question);
  const size_t slash = std::min(text.find('/'), text.size());
  url.host = text.substr(0, slash);
  url.path = text.substr(slash);
  for (const char c : url.host + url.path + url.query) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') return std::nullopt;
  }
  if (url.host.empty()) return std::nullopt;
  return url;
}

std::optional<Url> UrlOfSource(std::string_view source) {
  if (source.find("://") != std::string_view::npos) return ParseUrl(source);
  // host:port is told from a path by the colon in its first part.
  const std::string_view first = source.substr(0, source.find('/'));
  const size_t colon = first.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  return ParseUrl("http://" + std::string(source));
}

std::optional<FetchPlan> PlanFetch(std::string_view source, std::string_view default_path,
                                   int seconds, int timeout_seconds) {
  std::optional<Url> url = UrlOfSource(source);
  if (!url) return std::nullopt;
  if (url->path.empty() || url->path == "/") url->path = default_path;
  Parameters parameters = SplitQuery(url->query);
  const auto is_seconds = [](const auto& parameter) { return parameter.first == "seconds"; };
  const auto found = std::find_if(parameters.begin(), parameters.end(), is_seconds);
  if (seconds > 0) {
    const std::string value = std::to_string(seconds);
    parameters.erase(std::remove_if(parameters.begin(), parameters.end(), is_seconds),
                     parameters.end());
    parameters.emplace_back("seconds", value);
  } else if (found != parameters.end()) {
    seconds = NumberIn<int>(found->second).value_or(seconds);
  }
  url->query = JoinQuery(std::move(parameters));
  FetchPlan plan;
  plan.url = *std::move(url);
  constexpr int kDay = 24 * 3600;
  if (timeout_seconds > 0) {
    plan.timeout_seconds = std::min(timeout_seconds, kDay);
  } else if (seconds > 0) {
    plan.timeout_seconds = std::min(seconds, kDay) * 3 / 2;
  }
  return plan;
}

Url SymbolUrlOf(Url profile) {
  static constexpr const char* kPages[] = {"/pprof/heap", "/pprof/growth", "/pprof/profile",
                                           "/pprof/pmuprofile", "/pprof/contention"};
  bool beside = profile.path.find("/debug/pprof/") != std::string::npos;
  for (const char* page : kPages) beside = beside || profile.path.ends_with(page);
  profile.path = beside ? profile.path.substr(0, profile.path.rfind('/')) + "/symbol" : "/symbolz";
  profile.query.clear();
  return profile;
}

}  // namespace heapgauge

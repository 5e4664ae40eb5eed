#include "core/fetch/http.h"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/base/file.h"
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

namespace {

const char* Describe(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "cannot connect; is it listening?";
    case httplib::Error::ConnectionTimeout:
      return "no connection in time";
    case httplib::Error::BindIPAddress:
      return "cannot bind the address";
    case httplib::Error::Read:
      return "no answer in time, or it broke off";
    case httplib::Error::Write:
      return "cannot send the request";
    case httplib::Error::ExceedRedirectCount:
      return "too many redirects";
    case httplib::Error::SSLConnection:
      return "no TLS connection; is it https?";
    case httplib::Error::SSLLoadingCerts:
      return "the certificates of -tls_cert, -tls_key or -tls_ca cannot be used";
    case httplib::Error::SSLServerVerification:
      return "the server's certificate is not trusted; name its authority with -tls_ca, or use "
             "https+insecure://";
    default:
      return "the request failed";
  }
}

Status CheckTls(const HttpOptions& options) {
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "-tls_cert and -tls_key go together; one is missing");
  }
  for (const std::string* path : {&options.tls_cert, &options.tls_key, &options.tls_ca}) {
    if (path->empty()) continue;
    HG_TRY(File::OpenForReading(*path));
  }
  return {};
}

Result<std::string> Ask(const Url& url, httplib::Request request, const HttpOptions& options) {
  HG_TRY(CheckTls(options));
  const bool insecure = url.scheme == "https+insecure";
  std::string host = url.host;
  std::string user;
  if (const size_t at = host.rfind('@'); at != std::string::npos) {
    user = host.substr(0, at);
    host = host.substr(at + 1);
  }
  const std::string server = (insecure ? "https" : url.scheme) + "://" + host;
  httplib::Client client(server, options.tls_cert, options.tls_key);
  const auto bad = [&url](ErrorCode code, const std::string& why) {
    return Fail(code, Printable(url.Text()) + ": " + why);
  };
  if (!client.is_valid()) {
    return bad(ErrorCode::kInvalidArgument, url.scheme == "http"
                                                ? "not a usable address"
                                                : Describe(httplib::Error::SSLLoadingCerts));
  }
  if (!user.empty()) {
    const size_t colon = std::min(user.find(':'), user.size());
    client.set_basic_auth(user.substr(0, colon),
                          colon < user.size() ? user.substr(colon + 1) : std::string());
  }
  const auto patience = std::chrono::seconds(options.timeout_seconds + 5);
  client.set_connection_timeout(std::min<std::chrono::seconds>(patience, std::chrono::seconds(30)));
  client.set_read_timeout(patience);
  client.set_write_timeout(patience);
  client.set_follow_location(true);
  client.set_decompress(false);  // profiles are gzip files; readers unpack them within bounds
  if (url.scheme != "http") {
    client.enable_server_certificate_verification(!insecure);
    if (!options.tls_ca.empty()) client.set_ca_cert_path(options.tls_ca);
  }

  if (const auto proxy = ProxyFor(url, [](const char* name) { return std::getenv(name); })) {
    client.set_proxy(proxy->host, proxy->port);
  }

  std::string body;
  bool too_long = false;
  bool too_late = false;
  const auto deadline = std::chrono::steady_clock::now() + 2 * patience;
  request.path = (url.path.empty() ? "/" : url.path) + (url.query.empty() ? "" : "?" + url.query);
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    too_long = body.size() + size > options.max_bytes;
    too_late = std::chrono::steady_clock::now() > deadline;
    if (!too_long && !too_late) body.append(data, size);
    return !too_long && !too_late;
  };
  const httplib::Result answer = client.send(request);
  if (too_long) {
    return bad(ErrorCode::kUnsupported,
               "the answer is longer than " + FormatBytes(static_cast<double>(options.max_bytes)));
  }
  if (too_late) return bad(ErrorCode::kUnavailable, "the answer did not end in time; see -timeout");
  if (!answer) return bad(ErrorCode::kUnavailable, Describe(answer.error()));
  if (answer->status != 200) {
    std::string why = "server response: " + std::to_string(answer->status) + " " + answer->reason;
    // Go's handlers say what is wrong.
    if (answer->has_header("X-Go-Pprof") &&
        answer->get_header_value("Content-Type").find("text/plain") != std::string::npos) {
      why += " - " + body.substr(0, body.find('\n')).substr(0, 500);
    }
    return bad(ErrorCode::kUnavailable, Printable(why));
  }
  return body;
}

}  // namespace

Result<std::string> HttpGet(const Url& url, const HttpOptions& options) {
  httplib::Request request;
  request.method = "GET";
  return Ask(url, std::move(request), options);
}

Result<std::string> HttpPost(const Url& url, const std::string& body, const HttpOptions& options) {
  httplib::Request request;
  request.method = "POST";
  request.body = body;
  request.set_header("Content-Type", "application/octet-stream");
  return Ask(url, std::move(request), options);
}

namespace {

std::string ValueOf(const Variable& variable, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = variable(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

// The name without user and port.
std::string HostName(const std::string& host) {
  const std::string name = host.substr(host.rfind('@') + 1);
  if (name.rfind('[', 0) == 0) return name.substr(0, name.find(']') + 1);
  return name.substr(0, name.find(':'));
}

bool IsLoopback(const std::string& name) {
  return name == "localhost" || name == "[::1]" || name.rfind("127.", 0) == 0;
}

// "no_proxy" is a list of names, and of domains with or without a leading point.
bool IsExcluded(const std::string& name, const std::string& list) {
  for (const std::string_view piece : PiecesOf(list, ',')) {
    std::string item(Trim(piece, " "));
    if (item == "*") return true;
    if (item.rfind('.', 0) == 0) item.erase(0, 1);
    if (!item.empty() && (name == item || name.ends_with("." + item))) return true;
  }
  return false;
}

}  // namespace

std::optional<Proxy> ProxyFor(const Url& url, const Variable& variable) {
  const std::string name = HostName(url.host);
  if (IsLoopback(name)) return std::nullopt;
  if (IsExcluded(name, ValueOf(variable, {"no_proxy", "NO_PROXY"}))) return std::nullopt;
  std::string chosen = url.scheme == "http" ? ValueOf(variable, {"http_proxy", "HTTP_PROXY"})
                                            : ValueOf(variable, {"https_proxy", "HTTPS_PROXY"});
  if (chosen.empty()) return std::nullopt;
  if (chosen.find("://") == std::string::npos) chosen = "http://" + chosen;
  const auto parsed = ParseUrl(chosen);
  if (!parsed || parsed->scheme != "http") return std::nullopt;
  Proxy proxy;
  proxy.host = HostName(parsed->host);
  proxy.port = 80;
  const size_t colon = parsed->host.rfind(':');
  if (colon != std::string::npos) {
    const int port = NumberIn<int>(std::string_view(parsed->host).substr(colon + 1)).value_or(0);
    if (port > 0 && port < 65536) proxy.port = port;
  }
  return proxy;
}

}  // namespace heapgauge

#include "core/fetch/proxy.h"

#include <charconv>

namespace heapgauge {
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
  for (size_t start = 0; start <= list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    std::string item = list.substr(start, end - start);
    start = end + 1;
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
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
    const char* end = parsed->host.data() + parsed->host.size();
    int port = 0;
    const auto [stop, error] = std::from_chars(parsed->host.data() + colon + 1, end, port);
    if (error == std::errc() && stop == end && port > 0 && port < 65536) proxy.port = port;
  }
  return proxy;
}

}  // namespace heapgauge

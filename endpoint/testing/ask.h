// Requests to an endpoint in memory, in one line each. Not for use outside of tests.
#pragma once

#include <time.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/recording/read_profile.h"
#include "endpoint/endpoint.h"
#include "endpoint/testing/fake_process.h"

namespace heapgauge::endpoint::testing {

// The answer, also if it is promised for later.
inline Response HandleAndWait(Endpoint* endpoint, const Request& request) {
  Reply reply = endpoint->Handle(request);
  if (!reply.later) return std::move(reply.response);
  const timespec due{static_cast<time_t>(reply.due_ns / 1'000'000'000),
                     static_cast<long>(reply.due_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
  return reply.later();
}

// `target` is a path with or without a query.
inline Response AskAt(Endpoint* endpoint, const std::string& method, const std::string& target,
                      Headers headers = {}, std::string body = {}) {
  Request request;
  request.method = method;
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = target.substr(question + 1);
  request.headers = std::move(headers);
  request.body = std::move(body);
  return HandleAndWait(endpoint, request);
}

// One process, 4242, and an endpoint over it.
class OneProcess {
 public:
  explicit OneProcess(Limits limits = {})
      : process(std::make_shared<FakeProcess>(4242)),
        endpoint(std::make_shared<FakeProcesses>(std::vector<std::shared_ptr<Process>>{process}),
                 limits) {}

  Response Ask(const std::string& method, const std::string& target, Headers headers = {},
               std::string body = {}) {
    return AskAt(&endpoint, method, target, std::move(headers), std::move(body));
  }
  Response Get(const std::string& target, Headers headers = {}) {
    return Ask("GET", target, std::move(headers));
  }
  Response Post(const std::string& target, Headers headers = {}) {
    return Ask("POST", target, std::move(headers));
  }
  Response Browse(const std::string& target) {
    return Get(target, {{"User-Agent", "Mozilla/5.0"}, {"Accept", "text/html,*/*;q=0.8"}});
  }

  std::shared_ptr<FakeProcess> process;
  Endpoint endpoint;
};

inline Result<Profile> ReadBody(const Response& response) {
  return ReadProfile(StreamOf(response.body), "the answer");
}

// The word behind `key` in a text of lines "key: word".
inline std::string Field(const std::string& text, const std::string& key) {
  const size_t at = text.find(key + ": ");
  if (at == std::string::npos) return {};
  const size_t begin = at + key.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

// Texts that try to get out of where they are put.
inline const std::vector<std::string>& HostileWords() {
  static const std::vector<std::string> words = {
      "%3Cscript%3Ealert(1)%3C/script%3E",
      "%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
      "'%3B%20rm%20-rf%20/%3B'",
      "$(id)",
      "%60id%60",
      "../../etc/passwd",
      "..%2f..%2fetc%2fpasswd",
      "/proc/self/mem",
      "%0d%0aSet-Cookie:%20a=b",
      "%7C%20cat%20/etc/passwd",
      "--help",
      "99999999999999999999999999",
      "-1",
      "nan",
      "%F0%9F%92%A9%FF%FE",
  };
  return words;
}

}  // namespace heapgauge::endpoint::testing

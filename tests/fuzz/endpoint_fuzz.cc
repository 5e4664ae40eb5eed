// libFuzzer target: any bytes as a request to the endpoint, with a made-up process behind it. Lines
// of the input are method, path, query, content type; the rest is the body.
//
//   build/bin/endpoint_fuzz -max_len=4096 corpus/

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "endpoint/endpoint.h"
#include "endpoint/testing/fake_process.h"

namespace {

using heapgauge::endpoint::Endpoint;
using heapgauge::endpoint::Reply;
using heapgauge::endpoint::Request;
using heapgauge::endpoint::Response;
using heapgauge::endpoint::testing::FakeProcess;
using heapgauge::endpoint::testing::FakeProcesses;

std::string TakeLine(std::string_view* input) {
  const std::string_view line = input->substr(0, input->find('\n'));
  input->remove_prefix(line.size() < input->size() ? line.size() + 1 : line.size());
  return std::string(line);
}

void Check(const Response& response) {
  if (response.status < 200 || response.status > 599) __builtin_trap();
  for (const auto& [name, value] : response.headers) {
    constexpr std::string_view kEnds("\r\n\0", 3);
    if (name.find_first_of(kEnds) != std::string::npos) __builtin_trap();
    if (value.find_first_of(kEnds) != std::string::npos) __builtin_trap();
  }
  if (response.Header("X-Content-Type-Options") != "nosniff") __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Endpoint endpoint(
      std::make_shared<FakeProcesses>(std::vector<std::shared_ptr<heapgauge::endpoint::Process>>{
          std::make_shared<FakeProcess>(4242)}));
  std::string_view input(reinterpret_cast<const char*>(data), size);
  Request request;
  request.method = TakeLine(&input);
  request.path = TakeLine(&input);
  request.query = TakeLine(&input);
  request.headers = {{"Content-Type", TakeLine(&input)}, {"User-Agent", "Mozilla"}};
  request.body = std::string(input);
  const Reply reply = endpoint.Handle(request);
  Check(reply.later ? reply.later() : reply.response);
  return 0;
}

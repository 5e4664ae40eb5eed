#include "endpoint/base/random_text.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>

namespace heapgauge::endpoint {

std::string RandomText() {
  std::array<unsigned char, 16> bytes;
  ssize_t got = 0;
  do {
    got = getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(bytes.size())) return {};
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace heapgauge::endpoint

// Text that nobody can guess, for ids and nonces.
//
// Any thread.
#ifndef HEAPGAUGE_ENDPOINT_BASE_RANDOM_TEXT_H_
#define HEAPGAUGE_ENDPOINT_BASE_RANDOM_TEXT_H_

#include <string>

namespace heapgauge::endpoint {

// 128 bits from the kernel as 32 hexadecimal digits; "" if it has none to give.
std::string RandomText();

}  // namespace heapgauge::endpoint

#endif  // HEAPGAUGE_ENDPOINT_BASE_RANDOM_TEXT_H_

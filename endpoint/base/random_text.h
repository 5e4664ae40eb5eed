// Text that nobody can guess, for ids and nonces.
//
// Any thread.
#pragma once

#include <string>

namespace heapgauge::endpoint {

// 128 bits from the kernel as 32 hexadecimal digits; "" if it has none to give.
std::string RandomText();

}  // namespace heapgauge::endpoint

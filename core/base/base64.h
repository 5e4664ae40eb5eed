// Bytes as base64 (RFC 4648), for data that is put into texts.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace heapgauge {

std::string Base64(std::string_view bytes);

}  // namespace heapgauge

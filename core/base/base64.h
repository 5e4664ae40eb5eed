// Bytes as base64 (RFC 4648), for data that is put into texts.
//
// Pure.
#ifndef HEAPGAUGE_CORE_BASE_BASE64_H_
#define HEAPGAUGE_CORE_BASE_BASE64_H_

#include <string>
#include <string_view>

namespace heapgauge {

std::string Base64(std::string_view bytes);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_BASE64_H_

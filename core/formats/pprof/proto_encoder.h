// Writes protobuf fields into a string. The counterpart of proto_cursor.h.
//
// Not synchronised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heapgauge {

class ProtoEncoder {
 public:
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }
  void Number(uint32_t field, uint64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(value);
  }
  // Nothing if it is 0, which is what readers take a missing field for.
  void NumberUnlessZero(uint32_t field, uint64_t value) {
    if (value != 0) Number(field, value);
  }
  void Bytes(uint32_t field, std::string_view bytes) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(bytes.size());
    bytes_ += bytes;
  }
  void Message(uint32_t field, const ProtoEncoder& message) { Bytes(field, message.bytes_); }
  // Fields that are encoded already.
  void Raw(std::string_view fields) { bytes_ += fields; }

  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

}  // namespace heapgauge

// Reads the JSON of a DHAT file and tells a visitor what is in it, point by point: nothing but one
// point is in memory.
//
// The parser of nlohmann's library does the JSON. It costs seconds wherever it is included, which
// is the .cc file alone. Depth does not matter to it; a single string or number may have 16 MB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/formats/dhat/dhat_file.h"

namespace heapgauge {

class DhatVisitor {
 public:
  virtual ~DhatVisitor() = default;
  // `frames` are indexes of the frame table, innermost first. The table may come before or after.
  virtual Status Point(const DhatPoint& point, const std::vector<uint32_t>& frames) = 0;
  // The next entry of the frame table.
  virtual Status FrameText(std::string_view text) = 0;
};

// The facts are complete only at the end.
Result<DhatFacts> ParseDhat(ByteStream* stream, const std::string& name, DhatVisitor* visitor);

}  // namespace heapgauge

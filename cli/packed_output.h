// Output that is compressed if the name of its file says so: .zst, .gz.
#pragma once

#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/base/text_sink.h"

namespace heapgauge::cli {

// Calls `write` with a sink that packs, or not, what it passes on to `out`.
Status WritePacked(const std::string& name, const std::function<Status(TextSink*)>& write,
                   TextSink* out);

}  // namespace heapgauge::cli

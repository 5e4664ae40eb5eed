// The whole profile as JSON, for programs that want more than a report: docs/formats/json.md says
// what is in it.
//
// Written piece by piece; memory does not grow with the profile.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/model/profile.h"

namespace heapgauge {

// `selected` says which rows, empty for all.
Status WriteProfileJson(const Profile& profile, const std::vector<std::string>& notes,
                        const std::vector<bool>& selected, TextSink* out);

}  // namespace heapgauge

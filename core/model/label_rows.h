// Gives all rows of a profile one more label, for example to tell the rows of one profile from
// those of another after both were merged.
#pragma once

#include <string_view>

#include "core/model/profile.h"

namespace heapgauge {

// A text label of the same key that a row has is replaced. Pure; linear in labels and rows.
void LabelAllRows(std::string_view key, std::string_view text, Profile* profile);

}  // namespace heapgauge

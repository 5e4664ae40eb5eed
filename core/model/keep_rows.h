// Takes rows out of a profile, with all that belongs to them.
#pragma once

#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

// Rows that stay keep their order. Nodes, locations and labels stay as they are. REQUIRES: one
// entry for each row.
void KeepRows(const std::vector<bool>& keep, Profile* profile);

}  // namespace heapgauge

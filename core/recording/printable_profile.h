// Names in a profile that somebody else wrote end on a terminal: control characters in them could
// change what it shows, or do. Readers take them as they are, and this is done once behind all of
// them.
#pragma once

#include "core/model/profile.h"

namespace heapgauge {

// Replaces control characters, and bytes that are not UTF-8, in all names by '?'.
void MakePrintable(Profile* profile);

}  // namespace heapgauge

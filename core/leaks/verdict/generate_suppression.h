// Entries for suppression files, of leaks that were found.
#pragma once

#include <string>

#include "core/leaks/scan/verdict.h"
#include "core/model/profile.h"

namespace heapgauge::leaks {

// An entry that silences blocks of this kind and stack, in Valgrind's syntax or in LeakSanitizer's;
// "" where the stack has nothing to go by.
std::string GenerateSuppression(const Profile& profile, NodeId leaf, Kind kind);
std::string GenerateLsanSuppression(const Profile& profile, NodeId leaf);

}  // namespace heapgauge::leaks

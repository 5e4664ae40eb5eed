// The program itself as the first module of a profile: tools take the first mapping for it, and in
// a recording the first stack may well lead through the dynamic linker.
#pragma once

#include "core/model/profile.h"

namespace heapgauge {

// By the path in `recording`; nothing happens if no module has it. Changes ids: to be called when
// names that the file brings by these have been attached.
void PutProgramFirst(Profile* profile);

}  // namespace heapgauge

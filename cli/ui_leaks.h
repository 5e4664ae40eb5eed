// Leak checks for the page of a host that is beside the programs: `ui`, `serve`, `run --http`.
#pragma once

#include <memory>

#include "core/leaks/verdict/suppressions.h"
#include "endpoint/api/leak_checker.h"

namespace heapgauge::cli {

std::shared_ptr<endpoint::api::LeakChecker> MakeLeakChecker(leaks::Suppressions suppressions = {});

}  // namespace heapgauge::cli

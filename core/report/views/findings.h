// What stands out in a profile, in sentences: who grows and frees nothing, who allocates for
// nothing, what to doubt. For people who look at a page and ask where to begin.
//
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/fold/functions.h"
#include "core/memory/survey.h"
#include "core/model/profile.h"
#include "core/report/views/leaks.h"

namespace heapgauge {

struct ProfileFinding {
  enum class Kind { kGrowth, kHolder, kChurn, kMemory, kSamples, kLeak };
  Kind kind = Kind::kHolder;
  std::string text;
  double weight = 0;       // share of the whole that it is about
  std::string function;    // whose stacks show it, whole; "" none
  bool allocated = false;  // it is about what was allocated, not about what is live
  std::string leak;        // of kLeak: the key of its loss record (core/report/views/leaks_page.h)
};

// "growth", "holder", "churn", "memory", "samples", "leak".
const char* FindingKindName(ProfileFinding::Kind kind);

// `report` is by functions, with flat figures. `survey` may be null. The weightiest first; none for
// profiles that do not know live memory.
std::vector<ProfileFinding> FindingsOf(const Profile& profile, const FunctionReport& report,
                                       const MemorySurvey* survey);

// Adds what a leak check found to these, in front: its worst suspects. What is told of the same
// functions without it goes. REQUIRES: the subject has suspects.
void AddLeakFindings(const LeaksSubject& subject, std::vector<ProfileFinding>* findings);

}  // namespace heapgauge

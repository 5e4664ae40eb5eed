// What the doctor says: findings, each with a stable name. The table of causes is the one list of
// everything the doctor knows; docs/doctor.md explains each, and a test produces each for real.
//
// Plain data and pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heapgauge {

enum class Severity {
  kProblem,  // there is no data, or what there is misleads
  kWarning,  // there will be less data than one expects
  kHint,     // good to know
  kOk,       // was looked at and is fine
};
const char* SeverityName(Severity severity);

struct Cause {
  const char* id;  // stable: scripts may look for it
  Severity severity;
  const char* word;  // what `ps` shows for a gauge file of which this is the first finding; or ""
  const char* short_meaning;
};
const std::vector<Cause>& Causes();

struct Finding {
  std::string id;
  Severity severity = Severity::kHint;
  std::string what;      // one sentence
  std::string evidence;  // where that was seen
  std::string remedy;    // what to do, best a command to copy; "" nothing
};
using Findings = std::vector<Finding>;

// A finding of one of the causes, with the severity that the table gives it. REQUIRES: the table
// has `id`. All texts are made printable: they quote what others wrote.
Finding Found(std::string_view id, std::string_view what, std::string_view evidence,
              std::string_view remedy);

// Something that was looked at and is as it should be.
Finding Fine(std::string_view what, std::string_view evidence = "");

// The most important first; among equals the order stays.
void SortFindings(Findings* findings);

bool HasProblem(const Findings& findings);
const Finding* FindById(const Findings& findings, std::string_view id);
// The first problem, or else null.
const Finding* FirstProblem(const Findings& findings);

void Append(Findings from, Findings* to);

}  // namespace heapgauge

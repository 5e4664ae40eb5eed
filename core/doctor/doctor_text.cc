#include <fmt/format.h>

#include "core/base/json.h"
#include "core/doctor/examine.h"

namespace heapgauge {

std::string DoctorText(const Examination& examination) {
  std::string text = examination.subject + "\n";
  bool any = false;
  for (const Finding& finding : examination.findings) {
    if (finding.severity == Severity::kOk) continue;
    any = true;
    text += fmt::format("\n{:<8} {}\n", SeverityName(finding.severity), finding.id);
    text += "  " + finding.what + "\n";
    if (!finding.remedy.empty()) text += "  -> " + finding.remedy + "\n";
    if (!finding.evidence.empty()) text += "     (" + finding.evidence + ")\n";
  }
  bool first = true;
  for (const Finding& finding : examination.findings) {
    if (finding.severity != Severity::kOk) continue;
    text += fmt::format("{}ok       {}{}\n", first ? "\n" : "", finding.what,
                        finding.evidence.empty() ? "" : " (" + finding.evidence + ")");
    first = false;
  }
  return text + (any ? "\nNothing else stands in the way.\n" : "\nNothing stands in the way.\n");
}

std::string DoctorJson(const Examination& examination) {
  Json findings = Json::Array();
  for (const Finding& finding : examination.findings) {
    findings.Add({{"id", finding.id},
                  {"severity", SeverityName(finding.severity)},
                  {"what", finding.what},
                  {"evidence", finding.evidence},
                  {"remedy", finding.remedy}});
  }
  const Json json = {{"subject", examination.subject},
                     {"problem", HasProblem(examination.findings)},
                     {"findings", std::move(findings)}};
  return json.Text();
}

}  // namespace heapgauge

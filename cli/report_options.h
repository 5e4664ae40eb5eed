// Options that the reports on one profile have in common.
#ifndef HEAPGAUGE_CLI_REPORT_OPTIONS_H_
#define HEAPGAUGE_CLI_REPORT_OPTIONS_H_

#include <string>

namespace heapgauge::cli {

struct ReportOptions {
  std::string source;
  std::string pick;
  std::string focus;
  std::string ignore;
  std::string sort = "live";
  std::string inherited = "all";
  std::string kind = "heap";
  std::string output;
  int rows = -1;  // the report's own default
  bool json = false;
  bool cumulative = false;
  bool peak = false;
};

// Runs `top`; `ctl peak` uses it too.
int Top(const ReportOptions& options);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_REPORT_OPTIONS_H_

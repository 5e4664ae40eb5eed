// Where the profile of a command comes from and how its addresses become names.
//
// Plain data.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace heapgauge::cli {

// Tells the user a line while the command works.
using Say = std::function<void(const std::string&)>;

struct PprofSourceOptions {
  std::vector<std::string> sources;  // files, PIDs, gauge directories, URLs
  std::vector<std::string> bases;
  bool diff_base = false;  // the bases are labelled pprof::base
  bool normalize = false;
  std::string program;   // overrides that of the profile
  std::string build_id;  // the same
  std::string symbolize;
  std::string comment;      // to be added
  bool all_frames = false;  // ignore the profile's drop_frames and keep_frames
  int seconds = -1;
  int timeout = -1;
  std::string tools;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
};

}  // namespace heapgauge::cli

// Runs the heapgauge binary, or any other, and keeps what it printed. For tests of the command
// line.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace heapgauge::testing {

struct Outcome {
  int code = -1;   // exit code; -1 if it was killed
  int signal = 0;  // that killed it
  std::string out;
  std::string err;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// Tests are often run by root, who may do everything; some need somebody who may not.
enum class User { kSame, kNobody };
inline constexpr int kCannotBeNobody =
    98;  // exit code of a command that could not be run as nobody

// A process under way; its output goes to temporary files.
class Command {
 public:
  Command(const std::vector<std::string>& arguments, const Environment& environment = {},
          const std::string& input = "", User user = User::kSame);
  pid_t pid() const { return pid_; }
  // What it has printed so far.
  std::string OutSoFar() const;
  Outcome Wait();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

// heapgauge with these arguments, to its end.
Outcome Heapgauge(const std::vector<std::string>& arguments, const Environment& environment = {},
                  const std::string& input = "");
std::vector<std::string> HeapgaugeCommand(const std::vector<std::string>& arguments);

// A directory that goes with the object.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace heapgauge::testing

// Source files by the names that profiles know them by, which are those of the machine that
// compiled the program, and lines of them.
//
// Where a file is looked for, in this order:
//   1. As pprof does: prefixes to trim are cut; an absolute path is taken as it is; a relative one
//      is looked for in each directory of the search path and in all directories above.
//   2. An absolute path that is not there, with ever fewer of its leading directories, in each
//      directory of the search path that the user gave: /build/app/src/x.c is found as DIR/src/x.c.
//   3. Below the root of the program's own mount namespace, while it runs (a container).
//   4. On debuginfod servers, by build-id.
//
// Files are kept in memory once read. They belong to somebody else and may be anything: only
// regular files are read, no more than 32 MB of each; a line longer than 64 kB ends the file, as in
// pprof. Owned by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heapgauge {

// Paths of source files as debug information has them, made fit for looking at and for searching.
//
// Pure functions.

// `path` without what the machine that built the program has in front: one of the prefixes of
// `trim` (separated by colons), or else all up to the last directory of one of `search`.
std::string_view TrimSourcePath(std::string_view path, std::string_view trim,
                                std::string_view search);

// "a/./b/../c" becomes "a/c"; "" becomes ".".
std::string CleanPath(std::string_view path);
// The last part: "c" of "/a/b/c/"; "." of "", "/" of "/".
std::string_view LastPart(std::string_view path);

// Whether a path is one that a source file would have. Who shows the files that a profile names to
// others goes by it: a profile may name any file, /etc/shadow as well.
//
// By the end of its name; headers without one (<vector>, <QString>) by a directory `include`.
// REQUIRES: a clean path, without "..".
bool IsSourceName(std::string_view path);

class Debuginfod;

struct SourceOptions {
  std::string search_path;  // directories separated by colons; "" the current directory
  std::string trim_path;    // prefixes separated by colons
  uint32_t pid = 0;         // a running process that sees the files; 0 none
  Debuginfod* debuginfod = nullptr;
};

class SourceFiles {
 public:
  explicit SourceFiles(SourceOptions options);

  // Line `number`, the first being 1; nothing past the end or if there is no such file. `build_id`
  // of the module that was compiled from it helps debuginfod; "" unknown.
  std::optional<std::string_view> Line(const std::string& path, int64_t number,
                                       const std::string& build_id = "");

  // Why there is nothing of a file that Line() was asked for, in pprof's words; "" if it was found.
  const std::string& ErrorOf(const std::string& path) const;
  // Where such a file was looked for, in order; the first few.
  const std::vector<std::string>& SearchedFor(const std::string& path) const;

 private:
  struct File {
    std::string text;
    std::vector<std::string_view> lines;
    std::string error;
    std::vector<std::string> searched;
  };

  const File& Open(const std::string& path, const std::string& build_id);
  Result<std::string> Read(const std::string& path, const std::string& build_id);
  Result<std::string> ReadAsPprof(const std::string& trimmed);
  std::optional<std::string> ReadIfThere(const std::string& path);
  std::optional<std::string> ReadElsewhere(const std::string& path, const std::string& build_id);

  SourceOptions options_;
  bool search_path_given_;
  std::vector<std::string> searched_;  // for the file that is being opened
  std::map<std::string, std::unique_ptr<File>> files_;
};

// A line of a function with figures; several may be of the same line.
struct LineWeight {
  int64_t line = 0;
  int64_t start_line = 0;  // of the function, 0 unknown
  int64_t flat = 0;
  int64_t cum = 0;
  int64_t flat_div = 0;  // what they are divided by for means, 0 for sums
  int64_t cum_div = 0;
};

// What several of them weigh together.
struct LineSum {
  int64_t flat = 0;
  int64_t cum = 0;
  int64_t flat_div = 0;
  int64_t cum_div = 0;
  void Add(const LineWeight& weight);
};

struct ListedLine {
  int64_t number = 0;
  LineSum sum;
  std::string_view text;  // in the SourceFiles
};

// Which lines of a source file a function's listing shows, with what they weigh.
//
// The rule is pprof's: from the function's first line, or five lines before the first line that
// weighs anything, to five lines behind the last one.
//
// Stops where the file ends; empty if there is no such file. REQUIRES: `weights` is not empty.
std::vector<ListedLine> ListLines(const std::string& path, const std::string& build_id,
                                  const std::vector<LineWeight>& weights, SourceFiles* files);

}  // namespace heapgauge

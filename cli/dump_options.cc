#include "cli/dump_options.h"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/cli.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

constexpr uint32_t kDefaultKeep = 32;  // as the agent has it

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// A plain number, from an option or, silently ignored if it is none, from the environment.
Result<uint64_t> Number(const std::string& option, const std::string& text, const char* variable,
                        uint64_t most, uint64_t otherwise) {
  const std::string& source = text.empty() ? FromEnvironment(variable) : text;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(source.data(), source.data() + source.size(), number);
  const bool good = !source.empty() && error == std::errc() &&
                    end == source.data() + source.size() && number <= most;
  if (good) return number;
  if (text.empty()) return otherwise;
  return Fail(
      ErrorCode::kInvalidArgument,
      option + ": '" + Printable(text) + "' is not a number from 0 to " + std::to_string(most));
}

// As it is where there is no current directory any more: that is no reason not to run the program.
std::string Absolute(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace

void AddDumpOptions(Command sub, DumpOptions* options) {
  sub.Flag("--dump-exit", &options->at_exit, "dump when the program ends");
  sub.Add("--dump-allocated", &options->allocated, "dump for every so many bytes, such as 1G");
  sub.Add("--dump-growth", &options->growth,
          "dump when live memory has grown by so many bytes, such as 100M");
  sub.Add("--dump-seconds", &options->seconds, "dump every so many seconds");
  sub.Add("--dump-limit", &options->limit,
          "dump when memory passes this percentage of its limit, such as 80");
  sub.Add("--dump-dir", &options->directory, "directory for dumps, in place of the current one");
  sub.Add("--dump-prefix", &options->prefix, "name them PREFIX.0001.hg and so on");
  sub.Add("--dump-keep", &options->keep, "keep at most N of each process, 0 for all (32)");
  sub.Flag("--verbose", &options->verbose, "say so on standard error when a dump is made");
}

Result<DumpWatch::Options> PrepareDumps(
    const DumpOptions& options, std::vector<std::pair<std::string, std::string>>* environment) {
  const auto set = [&](const char* name, const std::string& value) {
    environment->emplace_back(name, value);
  };
  DumpWatch::Options outside;
  if (options.at_exit) set("HEAPGAUGE_DUMP_EXIT", "1");
  if (!options.allocated.empty()) {
    HG_ASSIGN(const uint64_t bytes, SizeOption("--dump-allocated", options.allocated));
    set("HEAPGAUGE_DUMP_ALLOCATED", std::to_string(bytes));
  }
  if (!options.growth.empty()) {
    HG_ASSIGN(const uint64_t bytes, SizeOption("--dump-growth", options.growth));
    set("HEAPGAUGE_DUMP_GROWTH", std::to_string(bytes));
  }
  HG_ASSIGN(outside.seconds, Number("--dump-seconds", options.seconds, "HEAPGAUGE_DUMP_SECONDS",
                                    uint64_t{1} << 32, 0));
  if (outside.seconds != 0) set("HEAPGAUGE_DUMP_SECONDS", "0");  // ours, see dump_watch.h
  HG_ASSIGN(const uint64_t percent,
            Number("--dump-limit", options.limit, "HEAPGAUGE_DUMP_LIMIT", 99, 0));
  outside.percent = static_cast<uint32_t>(percent);
  if (!options.limit.empty()) set("HEAPGAUGE_DUMP_LIMIT", std::to_string(percent));
  HG_ASSIGN(const uint64_t keep,
            Number("--dump-keep", options.keep, "HEAPGAUGE_DUMP_KEEP", 1024, kDefaultKeep));
  outside.keep = static_cast<uint32_t>(keep);
  if (!options.keep.empty()) set("HEAPGAUGE_DUMP_KEEP", std::to_string(keep));
  outside.verbose = options.verbose || FromEnvironment("HEAPGAUGE_VERBOSE") == "1";
  if (options.verbose) set("HEAPGAUGE_VERBOSE", "1");

  // Absolute, since programs that the program executes may be started elsewhere.
  outside.place.directory = Absolute(
      options.directory.empty() ? FromEnvironment("HEAPGAUGE_DUMP_DIR") : options.directory);
  if (!options.directory.empty()) {
    const std::string& directory = outside.place.directory;
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
      return tl::unexpected<Error>(
          SystemError("--dump-dir: cannot make '" + Printable(directory) + "'", errno));
    }
  }
  if (!outside.place.directory.empty()) set("HEAPGAUGE_DUMP_DIR", outside.place.directory);
  std::string prefix =
      options.prefix.empty() ? FromEnvironment("HEAPGAUGE_DUMP_PREFIX") : options.prefix;
  if (!options.prefix.empty() && prefix.back() == '/') {
    return Fail(ErrorCode::kInvalidArgument, "--dump-prefix: '" + Printable(prefix) +
                                                 "' is a directory; give it to --dump-dir, or name "
                                                 "a file in it");
  }
  if (!prefix.empty()) {
    if (prefix[0] != '/' && !outside.place.directory.empty()) {
      prefix = outside.place.directory + "/" + prefix;
    }
    outside.place.prefix = Absolute(prefix);
    set("HEAPGAUGE_DUMP_PREFIX", outside.place.prefix);
  }
  if (outside.place.directory.empty()) outside.place.directory = Absolute(".");
  return outside;
}

}  // namespace heapgauge::cli

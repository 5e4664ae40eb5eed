// Single fields of the files of /proc/PID, and the readers of those files.
//
// A directory is "/proc/PID", or "/proc/PID/task/TID" for one thread. What has ended has no text:
// "" and so no fields. The functions that take a text are pure, whatever the text is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge {

std::string ReadStat(const std::string& directory);
std::string ReadStatus(const std::string& directory);

// The letter of the state in `stat`; 0 if there is none.
char StatState(std::string_view stat);

// A number of `stat`, counted as proc(5) does, from the 4th on; -1 if there is none.
int64_t StatField(std::string_view stat, int field);

// The value behind "name:" in `status`; "" if there is none.
std::string StatusField(std::string_view status, std::string_view name);

// The number of a process in its own, innermost pid namespace, by its `status`; 0 if that does not
// tell.
uint32_t InnermostPid(std::string_view status);

// A size in `status` or a file like it, "name:  12 kB", in bytes; 0 if there is none.
uint64_t StatusBytes(std::string_view status, std::string_view name);

// The soft limit called `name` in /proc/PID/limits; nothing if it has none.
std::optional<uint64_t> SoftLimit(std::string_view limits, std::string_view name);

// The name of a process or thread by its directory; "" if that has ended.
std::string TaskName(const std::string& directory);

// The processes that one thread started and nobody has waited for.
std::vector<uint32_t> ChildrenOf(const std::string& thread_directory);

// The entries of a directory that are numbers, as processes, threads and descriptors are; nothing,
// and errno, if it cannot be listed.
std::optional<std::vector<uint32_t>> NumbersIn(const std::string& directory);

// Where a link points to; "" if that may not be read.
std::string LinkTarget(const std::string& path);

}  // namespace heapgauge

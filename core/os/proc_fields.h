// Single fields of the files /proc/PID/stat and /proc/PID/status, whose text the caller has read.
//
// Pure functions; whatever the text is.
#ifndef HEAPGAUGE_CORE_OS_PROC_FIELDS_H_
#define HEAPGAUGE_CORE_OS_PROC_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace heapgauge {

// A number of `stat`, counted as proc(5) does, from the 4th on; -1 if there is none.
int64_t StatField(std::string_view stat, int field);

// The value behind "name:" in `status`; "" if there is none.
std::string StatusField(std::string_view status, std::string_view name);

// The number of a process in its own, innermost pid namespace, by its `status`; 0 if that does not
// tell.
uint32_t InnermostPid(std::string_view status);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_OS_PROC_FIELDS_H_

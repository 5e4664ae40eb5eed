// Which package has the debug file of an installed program or library, on Debian and its relatives.
//
// dpkg keeps a list of files for each package. All lists are read once for all questions, and only
// when a report has something to say about a file without names: some 20 ms.
#pragma once

#include <string>
#include <vector>

namespace heapgauge {

// The name of the debug package for each path; "" if no package owns the file. Bounded: a very
// large database is read in part.
std::vector<std::string> DebugPackagesOf(const std::vector<std::string>& paths,
                                         const std::string& info_dir = "/var/lib/dpkg/info");

}  // namespace heapgauge

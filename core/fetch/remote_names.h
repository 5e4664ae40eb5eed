// Names of addresses from the server that a profile came from. pprof's servers (Go's
// net/http/pprof, gperftools' and brpc's pages) answer a POST of "0x1234+0x5678" with lines
// "0x1234<TAB>name".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/fetch/http.h"
#include "core/model/profile.h"

namespace heapgauge {

// Where modules of a profile came from. Keys are build-ids, or paths where there is none.
struct ModuleSource {
  Url url;
  uint64_t start = 0;  // where that server has the module
};
using ModuleSources = std::map<std::string, std::vector<ModuleSource>>;

// Notes the server for all modules of a profile.
void AddModuleSources(const Profile& profile, const Url& url, ModuleSources* sources);

// Sends the addresses to a server and gives what it answers.
using AskForNames = std::function<Result<std::string>(const Url&, const std::string& addresses)>;

// Names the locations that have no frames, one module after the other; `force`: also in modules
// that have names. A server that fails is an error; what was named stays.
Status NameByServers(const ModuleSources& sources, bool force, const AskForNames& ask,
                     Profile* profile);

// Names by address from a server's answer. Lines that are none are skipped. Pure.
std::map<uint64_t, std::string> ParseSymbolPage(std::string_view page);

}  // namespace heapgauge

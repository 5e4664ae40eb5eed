// The directory that gauge files go to: may the program make files there, is there room, will they
// still be there tomorrow? The agent says nothing when it finds no place, so this is where the
// answer must come from.
//
// Facts are gathered without changing anything; the checks are pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/doctor/finding.h"

namespace heapgauge {

struct DirectoryFacts {
  std::string path;  // as the program sees it
  uint32_t uid = 0;  // whose program
  bool exists = false;
  bool can_be_made = false;  // if it does not exist
  std::string error;         // why it does not exist
  bool is_directory = false;
  bool any_owner = false;  // named by HEAPGAUGE_OUT: owner and mode are not the agent's concern
  uint32_t owner = 0;
  uint32_t mode = 0;
  bool writable = false;

  std::string file_system;  // "tmpfs", "ext4", "overlay", ...
  bool in_memory = false;
  uint64_t total_bytes = 0;  // 0: no limit of its own
  uint64_t free_bytes = 0;

  bool in_container = false;
  std::string container_evidence;
  uint64_t memory_limit = ~uint64_t{0};

  // Would the agent make its file here?
  bool usable() const;
};

// Where the agent looks for a place with these variables, in its order: as a rule one of them is
// usable. `any_owner` is set for the directory of HEAPGAUGE_OUT.
struct DirectoryChoice {
  std::string path;
  bool any_owner = false;
};
std::vector<DirectoryChoice> GaugeDirectoryChoices(
    const std::map<std::string, std::string>& environment, uint32_t uid);

// `root` is put before the path to look at it: "" or "/proc/PID/root".
DirectoryFacts ReadDirectory(const DirectoryChoice& choice, uint32_t uid, const std::string& root);

// Of the directories in the agent's order: what is wrong with the first usable one, or why there is
// none.
Findings CheckDirectories(const std::vector<DirectoryFacts>& choices);

}  // namespace heapgauge

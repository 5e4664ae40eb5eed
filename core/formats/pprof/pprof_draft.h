// A profile of pprof's format halfway: all messages are read, but what they name is still numbers.
//
// Samples name locations, locations functions, and all of them texts that come later in the file.
// pprof_messages.h fills a draft, pprof_resolve.h makes a profile of it. Owned by the reader of one
// file; not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/formats/pprof/id_table.h"
#include "core/formats/pprof/string_table.h"
#include "core/model/profile.h"

namespace heapgauge {

struct PprofDraft {
  // Numbers of texts.
  struct TypeRefs {
    uint64_t name = 0;
    uint64_t unit = 0;
  };
  struct ModuleRefs {
    uint64_t file = 0;
    uint64_t build_id = 0;
  };
  struct FunctionRefs {
    uint64_t name = 0;
    uint64_t system_name = 0;
    uint64_t file = 0;
  };

  std::string name;    // of the file, for messages
  uint64_t bytes = 0;  // that it has, unpacked

  // Locations and functions are in the order in which their ids were met, labels have the numbers
  // of their texts, locations the numbers of their mappings.
  Profile profile;
  ProtoStringTable strings;
  IdTable mappings;
  IdTable locations;
  IdTable functions;
  std::vector<ModuleId> module_of;  // by number in `mappings`

  std::vector<TypeRefs> types;
  TypeRefs period_type;
  std::vector<ModuleRefs> module_refs;
  std::vector<FunctionRefs> function_refs;
  std::vector<uint64_t> comments;
  uint64_t drop_frames = 0;
  uint64_t keep_frames = 0;
  uint64_t default_type = 0;
  uint64_t doc_url = 0;

  size_t values_in_row = 0;
  uint64_t first_sample = 0;  // where it is in the file
  uint64_t absurd_lines = 0;

  // What is wrong with the file, and where.
  Error Mistake(uint64_t offset, const std::string& what) const;
};

}  // namespace heapgauge

// Code of a heaptrack file as locations of a profile: interpreted files bring names of functions,
// files and lines, raw ones addresses in modules, which the symbolizer then names.
//
// Not synchronised. The profile must outlive the HeaptrackNames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/lookup_tables.h"
#include "core/formats/heaptrack/heaptrack_parser.h"
#include "core/model/profile.h"
#include "core/model/types.h"

namespace heapgauge {

// Which object an address of a raw heaptrack file lies in. The file tells all loaded objects again
// whenever one comes or goes, so an address means what the latest list says.
//
// Objects get a number when they are first seen at a place, and keep it for good.
class HeaptrackModules {
 public:
  void Clear();
  // `name` as the file has it, but for the program its path. False if there are too many.
  bool Add(std::string_view name, uint64_t base,
           const std::vector<std::pair<uint64_t, uint64_t>>& segments);

  // The object of an address now; kNone if there is none.
  ModuleId At(uint64_t address) const;
  // All that were ever seen, by number.
  const std::vector<Module>& modules() const { return modules_; }

 private:
  // The first of those that are loaded above the address.
  std::vector<ModuleId>::const_iterator After(uint64_t address) const;

  static constexpr size_t kMost = 65000;  // a trace has 16 bits for them

  std::vector<Module> modules_;
  std::unordered_map<std::string, ModuleId> numbers_;
  std::vector<ModuleId> loaded_;  // sorted by address
};

class HeaptrackNames {
 public:
  explicit HeaptrackNames(Profile* profile) : profile_(profile) {}

  // Of an interpreted file.
  void AddString(std::string_view text) { strings_.emplace_back(text); }
  void AddInstruction(uint64_t address, uint32_t module, const std::vector<HeaptrackFrame>& frames);
  // By number from 1; REQUIRES: it was added.
  LocationId Instruction(uint64_t number) const { return instructions_[number - 1]; }

  // Of a raw file.
  HeaptrackModules& modules() { return modules_; }
  LocationId Address(uint64_t address);

  // The modules become those of the profile. Call it when the recording's command line is known.
  void Finish();

 private:
  void PutProgramFirst();
  const std::string& String(uint32_t number) const;
  FunctionId FunctionOf(const HeaptrackFrame& frame);
  FunctionId Placeholder(uint64_t address, uint32_t module, uint32_t file);
  ModuleId NamedModule(uint32_t name);

  Profile* profile_;
  std::vector<std::string> strings_;
  std::vector<LocationId> instructions_;
  PairIndex functions_{1024};                       // by name and file
  std::unordered_map<uint32_t, ModuleId> by_name_;  // of interpreted files
  HeaptrackModules modules_;
  struct Place {
    uint64_t address = 0;
    ModuleId module = kNone;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct HashPlace {
    size_t operator()(const Place& place) const {
      return std::hash<uint64_t>()(place.address * 0x9e3779b97f4a7c15 ^ place.module);
    }
  };
  std::unordered_map<Place, LocationId, HashPlace> places_;
};

}  // namespace heapgauge

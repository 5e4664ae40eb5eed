// Code of a heaptrack file as locations of a profile: interpreted files bring names of functions,
// files and lines, raw ones addresses in modules, which the symbolizer then names.
//
// Not synchronised. The profile must outlive this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/pair_index.h"
#include "core/formats/heaptrack/heaptrack_modules.h"
#include "core/formats/heaptrack/heaptrack_parser.h"
#include "core/model/profile.h"

namespace heapgauge {

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

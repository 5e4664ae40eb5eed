// Brings modules, functions and locations of several profiles together, for merge.cc.
//
// Things are numbered as they are met. What is the same is there once, by pprof's rules: modules
// by size, offset and build id (or path), wherever they were loaded; functions by all they say;
// locations by module, address in it, and frames.
//
// Not synchronised. Linear in the number of things.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

class EntityMerger {
 public:
  // What follows is about `source`, until the next call. The first module of the first profile
  // that has one becomes the first of all: it is the program.
  void Begin(const Profile& source);

  // The location in the merged profile. REQUIRES: Begin(), the source unchanged.
  LocationId Map(LocationId location) {
    const LocationId known = locations_of_[location];
    return known != kNone ? known : Add(location);
  }
  // After Map(): where things of the source went to, kNone if nowhere.
  const std::vector<LocationId>& locations_of() const { return locations_of_; }
  const std::vector<FunctionId>& functions_of() const { return functions_of_; }
  const std::vector<ModuleId>& modules_of() const { return modules_of_; }
  // Every location of the source has its place.
  bool mapped_all() const { return mapped_ == locations_of_.size(); }
  // Two locations of the source have become one.
  bool collapsed() const { return collapsed_; }

  // Gives what was gathered to the profile.
  void MoveTo(Profile* profile);

 private:
  LocationId Add(LocationId location);
  ModuleId MapModule(ModuleId module);
  FunctionId MapFunction(FunctionId function);

  const Profile* source_ = nullptr;
  std::vector<LocationId> locations_of_;
  std::vector<FunctionId> functions_of_;
  std::vector<ModuleId> modules_of_;
  std::vector<bool> seen_;  // by merged location: the source has it
  bool collapsed_ = false;
  size_t mapped_ = 0;  // locations of the source

  std::vector<Module> modules_;
  std::vector<Function> functions_;
  std::vector<Location> locations_;
  std::vector<Frame> frames_;
  std::unordered_map<std::string, ModuleId> module_ids_;
  std::unordered_map<std::string, FunctionId> function_ids_;
  std::unordered_map<std::string, LocationId> location_ids_;
  std::string key_;
};

}  // namespace heapgauge

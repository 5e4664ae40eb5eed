// Remembers what addresses were called, so that a profile that is read again and again is
// symbolized once. Keyed by module (path and build-id) and address in it.
//
//   cache.Fill(&profile);                       // gives frames to locations that are known
//   auto notes = Symbolize(options, &profile);  // looks up the others
//   cache.Learn(profile, notes);
//
// Grows with the addresses of one program. Owned by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

class FrameCache {
 public:
  void Fill(Profile* profile);

  // Takes in the names of locations that were not known, and the notes on them. Returns all notes
  // so far.
  std::vector<std::string> Learn(const Profile& profile, const std::vector<std::string>& notes);

  // Addresses that are known.
  size_t size() const { return known_.size(); }

 private:
  struct Key {
    uint32_t module;
    uint64_t address;
    bool operator==(const Key& other) const {
      return module == other.module && address == other.address;
    }
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      const uint64_t h = (key.address + key.module * 0x100000001ull) * 0x9e3779b97f4a7c15ull;
      return h ^ h >> 32;
    }
  };
  struct Range {
    uint32_t first;
    uint32_t count;
  };
  struct ModuleFacts {
    bool has_functions = false;
    bool has_lines = false;
  };

  Key KeyOf(const Profile& profile, const Location& location,
            const std::vector<uint32_t>& modules) const;
  std::vector<uint32_t> NumberModules(const Profile& profile);

  std::unordered_map<std::string, uint32_t> modules_;
  std::vector<ModuleFacts> facts_;
  std::unordered_map<Key, Range, KeyHash> known_;
  std::vector<Frame> frames_;  // functions are those of functions_
  std::vector<Function> functions_;
  std::unordered_map<std::string, FunctionId> function_ids_;
  std::vector<std::string> notes_;
};

}  // namespace heapgauge

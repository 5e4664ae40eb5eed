// What the writers of text heap formats have in common: which figures a row has, its stack as
// addresses, the mapping section and the section of names.
//
// Not synchronised. The profile must outlive the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/formats/text/sampling.h"
#include "core/model/profile.h"

namespace heapgauge {

struct TextWriteOptions {
  std::vector<bool> selected;  // rows, empty for all
  // With the names of all addresses in front ("--- symbol"), for readers without the binaries.
  bool symbolized = false;
  // Mean bytes between samples that readers are told; 0: that of the profile. 1: figures as they
  // are.
  int64_t rate = 0;
};

// Two pairs, in use and ever allocated, as up to two lines.
struct TextRow {
  Resampled in_use;
  Resampled allocated;
};

class ProfileText {
 public:
  // Fails if the profile has no figures of memory in use, or no addresses that could be written.
  static Result<ProfileText> Make(const Profile& profile, const TextWriteOptions& options);

  int64_t rate() const { return rate_; }
  bool has_allocated() const { return alloc_space_ != kNone; }
  bool selected(RowId row) const { return options_.selected.empty() || options_.selected[row]; }
  TextRow Row(RowId row) const;
  // Sums over all rows of what Row() gives, for headers.
  TextRow Totals() const;

  // " 0x1234 0x5678", innermost first, appended.
  void AppendStack(RowId row, std::string* text);
  // "MAPPED_LIBRARIES:" and a line for each module.
  std::string Mappings() const;
  // "--- symbol" up to "---", or nothing if that is not wanted. `marker`, if not "", is told in the
  // line behind it.
  Status WriteSymbols(const std::string& marker, TextSink* sink);

 private:
  ProfileText(const Profile& profile, const TextWriteOptions& options)
      : profile_(profile), options_(options) {}
  // The address that readers will look up one below.
  uint64_t AddressOf(LocationId id) const;
  Status FindTypes();
  Status CheckAddresses() const;

  const Profile& profile_;
  const TextWriteOptions& options_;
  int64_t rate_ = 1;
  size_t objects_ = kNone;
  size_t space_ = kNone;
  size_t alloc_objects_ = kNone;
  size_t alloc_space_ = kNone;
  std::vector<LocationId> stack_;
};

}  // namespace heapgauge

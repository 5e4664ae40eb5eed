// Names on disk, by build-id: what was found for the addresses of a module, so that the next report
// on the same program need not read its debug information again.
//
// A file is good only if it is whole (checksum), of this version and for this build-id; anything
// else is as if there were no file. Its names are current if they were found with these options,
// and if every file that was looked at or looked for when it was written is still as it was: a
// debug package that is installed later is noticed. Names that are not current are still those of
// this build, and all there is of it once the program was built again. Nothing here is ever
// required: a directory that cannot be written to is no error.
//
// Files are written beside their place and renamed, so several users are no harm to one another.
// The directory is kept below a limit by removing what was not used for longest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/os/file_stamp.h"
#include "core/symbolize/dwarf_lookup.h"

namespace heapgauge {

inline constexpr uint64_t kNameCacheLimit = 256 << 20;

// $XDG_CACHE_HOME/heapgauge or ~/.cache/heapgauge; "" if there is neither.
std::string DefaultNameCacheDir();

// What one file holds. Texts of frames point into `bytes` once read.
struct CachedNames {
  std::string build_id;
  std::string options;  // that the names depend on
  bool has_dwarf = false;
  bool has_symtab = false;
  std::vector<FileStamp> stamps;
  std::vector<uint64_t> addresses;  // ascending
  FrameLists frames;
  std::string bytes;
  // Not in the file: asking the module's files again would give the same.
  bool current = true;

  // Null if the address was not asked for before.
  const std::vector<SourceFrame>* Find(uint64_t address) const;
};

// Nothing if there is no good file.
std::optional<CachedNames> LoadNames(const std::string& dir, const std::string& build_id,
                                     const std::string& options);
void SaveNames(const std::string& dir, const CachedNames& names, uint64_t limit = kNameCacheLimit);

// The bytes of a file, and back. For LoadNames, SaveNames and fuzzing.
std::string EncodeNames(const CachedNames& names);
std::optional<CachedNames> DecodeNames(std::string bytes);

}  // namespace heapgauge

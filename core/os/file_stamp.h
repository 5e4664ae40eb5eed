// What a file was when names were taken from it. Names that were kept are good for as long as every
// file that was looked at, or looked for, is still the same.
//
// A StampList may be filled by several threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace heapgauge {

struct FileStamp {
  std::string path;
  bool exists = false;
  uint64_t size = 0;
  uint64_t modified_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};

FileStamp StampOf(const std::string& path);

class StampList {
 public:
  // Notes the file as it is now, whether it is there or not.
  void Add(const std::string& path);
  const std::vector<FileStamp>& stamps() const { return stamps_; }

 private:
  std::mutex mutex_;
  std::vector<FileStamp> stamps_;
};

}  // namespace heapgauge

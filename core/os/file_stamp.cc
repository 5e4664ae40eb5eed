#include "core/os/file_stamp.h"

#include <sys/stat.h>

namespace heapgauge {

FileStamp StampOf(const std::string& path) {
  FileStamp stamp;
  stamp.path = path;
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return stamp;
  stamp.exists = true;
  stamp.size = static_cast<uint64_t>(st.st_size);
  stamp.modified_ns = static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000 +
                      static_cast<uint64_t>(st.st_mtim.tv_nsec);
  stamp.inode = st.st_ino;
  return stamp;
}

void StampList::Add(const std::string& path) {
  FileStamp stamp = StampOf(path);
  const std::lock_guard<std::mutex> lock(mutex_);
  stamps_.push_back(std::move(stamp));
}

}  // namespace heapgauge

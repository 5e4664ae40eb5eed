#include "core/leaks/capture/epoll_pointers.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/os/process.h"

namespace heapgauge::leaks {
namespace {

// No pointer is below; descriptors and other numbers are.
constexpr uint64_t kLeastPointer = 4096;
constexpr uint64_t kMarks = 7;

bool IsEpoll(int directory, const char* name) {
  constexpr std::string_view kTarget = "anon_inode:[eventpoll]";
  char target[kTarget.size() + 1];
  const ssize_t length = readlinkat(directory, name, target, sizeof target);
  return length > 0 && std::string_view(target, static_cast<size_t>(length)) == kTarget;
}

}  // namespace

EpollPointers::EpollPointers(uint32_t program, size_t most_bytes)
    : program_(program), most_bytes_(most_bytes) {
  ReadAgain();
}

void EpollPointers::ReadAgain() {
  const std::string directory = ProcessDirectory(program_);
  const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(opendir((directory + "/fd").c_str()),
                                                        closedir);
  if (descriptors == nullptr) {
    unlisted_ = true;
    return;
  }
  size_t left = most_bytes_;
  uint32_t count = 0;
  while (const dirent* entry = readdir(descriptors.get())) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (++count > kMostDescriptors) {
      cut_ = true;
      break;
    }
    if (!IsEpoll(dirfd(descriptors.get()), entry->d_name)) continue;
    // It may have been closed.
    const auto text = ReadWholeFile(directory + "/fdinfo/" + entry->d_name, left);
    if (!text) continue;
    Add(*text, static_cast<uint32_t>(std::strtoul(entry->d_name, nullptr, 10)));
    left -= text->size();
    if (left == 0) {
      cut_ = true;
      break;
    }
  }
}

// "tfd:        5 events:       19 data:     55d5c0ffee10  pos:0 ino:1f sdev:8", one line for each.
void EpollPointers::Add(std::string_view text, uint32_t descriptor) {
  constexpr std::string_view kData = "data:";
  while (!text.empty()) {
    std::string_view line = TakeUntil(&text, '\n');
    const size_t data = line.find(kData);
    if (!line.starts_with("tfd:") || data == std::string_view::npos) continue;
    line = TrimLeft(line.substr(data + kData.size()), " ");
    const auto data_word = TakeNumber<uint64_t>(&line, 16);
    if (!data_word) continue;
    const uint64_t value = *data_word & ~kMarks;
    if (value < kLeastPointer || !seen_.insert(value).second) continue;
    RootRegister root;
    root.value = value;
    root.kind = RootKind::kEpoll;
    root.descriptor = descriptor;
    roots_.push_back(root);
  }
}

std::string EpollPointers::Note() const {
  if (unlisted_) {
    return "the descriptors of the program could not be listed: blocks that it gave to epoll alone "
           "may seem lost";
  }
  if (cut_) {
    return "not all that the program gave to epoll was read, there is too much: blocks that only "
           "epoll holds may seem lost";
  }
  return "";
}

}  // namespace heapgauge::leaks

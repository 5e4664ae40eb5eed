#include "core/os/thread_stacks.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/file.h"
#include "core/os/proc_fields.h"

namespace heapgauge {
namespace {

// Guards are a page as a rule, and a few where the program asks for more.
constexpr uint64_t kMaxGuard = 1 << 20;

bool CanBeStack(const MappingUsage& m) {
  return m.readable && m.writable && !m.shared &&
         (m.is_anonymous() || m.name.compare(0, 6, "[anon:") == 0 ||
          m.name.compare(0, 7, "[stack:") == 0);
}

bool IsGuard(const MappingUsage& m) {
  return !m.readable && !m.writable && !m.executable && m.inode == 0 && m.size() <= kMaxGuard;
}

}  // namespace

uint64_t StackPointerIn(const std::string& line) {
  // "0 0x3 ... 0x7fff01a22248 0x7fe3951b72ad": number, six arguments, stack pointer, pc. A thread
  // that waits elsewhere than in a system call has "-1 sp pc". "running" has nothing.
  if (line.empty() || line.compare(0, 7, "running") == 0) return 0;
  const size_t last = line.find_last_of(' ');
  if (last == std::string::npos || last == 0) return 0;
  const size_t before = line.find_last_of(' ', last - 1);
  if (before == std::string::npos) return 0;
  return std::strtoull(line.c_str() + before + 1, nullptr, 16);
}

StackPointers ReadStackPointers(const std::string& directory) {
  StackPointers found;
  const std::string tasks = directory + "/task";
  for (const uint32_t id : NumbersIn(tasks).value_or(std::vector<uint32_t>())) {
    if (++found.threads > StackPointers::kMaxThreads) break;
    const auto line = ReadWholeFile(tasks + "/" + std::to_string(id) + "/syscall", 512);
    if (!line) {
      // It may have ended; but where none may be read there is no need to ask for a thousand more.
      if (!found.permitted && found.threads > 8) break;
      continue;
    }
    found.permitted = true;
    if (const uint64_t sp = StackPointerIn(*line)) found.pointers.push_back(sp);
  }
  return found;
}

StackMappings FindStacks(const std::vector<MappingUsage>& mappings, const StackPointers& pointers) {
  StackMappings stacks;
  stacks.is_stack.resize(mappings.size());
  for (size_t i = 0; i < mappings.size(); ++i) {
    const MappingUsage& m = mappings[i];
    if (m.name == "[stack]" || m.name.find("pthread stack") != std::string::npos) {
      stacks.is_stack[i] = true;
    } else if (i > 0 && CanBeStack(m) && !m.no_reserve && IsGuard(mappings[i - 1]) &&
               mappings[i - 1].end == m.start) {
      stacks.is_stack[i] = true;
      ++stacks.by_shape;
    }
  }
  for (const uint64_t sp : pointers.pointers) {
    auto it =
        std::upper_bound(mappings.begin(), mappings.end(), sp,
                         [](uint64_t address, const MappingUsage& m) { return address < m.start; });
    if (it == mappings.begin()) continue;
    --it;
    const size_t i = static_cast<size_t>(it - mappings.begin());
    if (sp >= it->end || stacks.is_stack[i] || !CanBeStack(*it)) continue;
    stacks.is_stack[i] = true;
    ++stacks.by_pointer;
  }
  return stacks;
}

}  // namespace heapgauge

#include "service/engines/glibc_engine.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <cerrno>
#include <cstdlib>

#include "core/base/file.h"

namespace heapgauge::engines {

std::unique_ptr<endpoint::Engine> GlibcEngine::Make() {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return nullptr;
  auto* figures = reinterpret_cast<Figures2*>(dlsym(libc, "mallinfo2"));
  auto* print = reinterpret_cast<Print*>(dlsym(libc, "malloc_info"));
  dlclose(libc);  // it stays: the process lives on it
  if (figures == nullptr) return nullptr;
  const struct mallinfo2 now = figures();
  if (now.arena == 0 && now.hblkhd == 0) return nullptr;
  return std::unique_ptr<endpoint::Engine>(new GlibcEngine(figures, print));
}

std::string GlibcEngine::why_not() const {
  return "glibc's malloc has no profiler; use engine=native";
}

std::string GlibcEngine::version() const { return gnu_get_libc_version(); }

Result<std::string> GlibcEngine::Statistics(const std::string&) {
  if (print_ == nullptr) return Fail(ErrorCode::kUnsupported, "this libc has no malloc_info");
  char* text = nullptr;
  size_t size = 0;
  FILE* stream = open_memstream(&text, &size);
  if (stream == nullptr) return tl::unexpected(SystemError("cannot take statistics", errno));
  const int error = print_(0, stream);
  std::fclose(stream);
  std::string result(text, size);
  std::free(text);
  if (error != 0) return Fail(ErrorCode::kUnavailable, "malloc_info failed");
  return result;
}

std::vector<std::pair<std::string, uint64_t>> GlibcEngine::Figures() {
  const struct mallinfo2 now = figures_();
  return {{"allocated", now.uordblks + now.hblkhd},
          {"mapped", now.arena + now.hblkhd},
          // All that the heaps hold and nobody has: between blocks, and at the top.
          {"cached", now.fordblks},
          {"releasable", now.keepcost},
          {"fragmentation", now.fordblks - now.keepcost}};
}

}  // namespace heapgauge::engines

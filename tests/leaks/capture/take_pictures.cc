// take_pictures PID COUNT [in-place]: takes pictures of a process, one after the other, and reads
// some memory of each. Prints how long the process stood still. A program of its own, so that it
// can be killed in the middle.
#include <sys/uio.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/leaks/capture/picture.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto pid = static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const int count = std::atoi(argv[2]);
  heapgauge::leaks::PictureOptions options;
  options.in_place = argc > 3 && std::strcmp(argv[3], "in-place") == 0;
  options.may_look_in_place = options.in_place;
  std::vector<double> pauses;
  for (int i = 0; i < count; ++i) {
    auto picture = heapgauge::leaks::Picture::Take(pid, options);
    if (!picture) {
      std::fprintf(stderr, "%s\n", picture.error().message.c_str());
      return 1;
    }
    (*picture)->Release();
    for (const std::string& note : (*picture)->notes()) std::fprintf(stderr, "%s\n", note.c_str());
    pauses.push_back(static_cast<double>((*picture)->pause_ns()) / 1e6);
  }
  std::sort(pauses.begin(), pauses.end());
  std::printf("%zu pictures, pause: least %.3f ms, median %.3f, most %.3f\n", pauses.size(),
              pauses.front(), pauses[pauses.size() / 2], pauses.back());
}

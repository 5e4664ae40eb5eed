// Writes a gauge file of a make-believe server whose addresses are those of this program's own
// functions, so that symbols can be looked up: make_gauge FILE [STACKS]. With a number of stacks
// the file is filled with that many random ones, for measuring.

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "core/gauge/testing/gauge_builder.h"
#include "core/os/process.h"

using heapgauge::testing::GaugeBuilder;
namespace wire = heapgauge::wire;

// Never called; their addresses stand for call sites.
namespace shop {
struct Cart {
  __attribute__((noinline)) static int AddItem(int n);
};
int Cart::AddItem(int n) { return std::printf("%d", n); }
__attribute__((noinline)) int LoadCatalogue(int n) { return std::printf("%d.", n); }
__attribute__((noinline)) int HandleRequest(int n) { return Cart::AddItem(n) + LoadCatalogue(n); }
}  // namespace shop

namespace {

std::string BuildId(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    const char* end = at + info.dlpi_phdr[i].p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* content = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4) return {content, note.n_descsz};
      at = content + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

int AddModule(dl_phdr_info* info, size_t, void* builder) {
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    low = std::min<uint64_t>(low, info->dlpi_addr + segment.p_vaddr);
    high = std::max<uint64_t>(high, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  const bool main_program = info->dlpi_name == nullptr || *info->dlpi_name == 0;
  const std::string path = main_program
                               ? heapgauge::ProcessExecutable(static_cast<uint32_t>(getpid()))
                               : std::string(info->dlpi_name);
  static_cast<GaugeBuilder*>(builder)->AddModule(path, low, high, info->dlpi_addr, BuildId(*info));
  return 0;
}

template <typename Function>
uint64_t Inside(Function* function) {
  return reinterpret_cast<uint64_t>(function) + 6;
}

void FillWithRandomStacks(GaugeBuilder* b, uint32_t count) {
  std::mt19937_64 random(7);
  const uint64_t code = Inside(&shop::HandleRequest);
  // Built by hand: the builder's search for equal nodes is quadratic.
  std::vector<uint32_t> pool{0};
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t parent = pool[random() % pool.size()];
    for (int depth = 0; depth < 6; ++depth) {
      b->nodes().push_back({wire::PackPc(code + random() % 4096, 1), parent, 0});
      parent = static_cast<uint32_t>(b->nodes().size() - 1);
    }
    if (pool.size() < 3000) pool.push_back(parent);
    wire::StackRecord stack{};
    stack.node = parent;
    b->stacks().push_back(stack);
    b->AddLive(static_cast<uint32_t>(b->stacks().size() - 1), 64 + random() % 100'000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  GaugeBuilder b;
  dl_iterate_phdr(AddModule, &b);
  std::snprintf(b.header().exe, sizeof b.header().exe, "%s",
                heapgauge::ProcessExecutable(static_cast<uint32_t>(getpid())).c_str());
  const uint64_t request = Inside(&shop::HandleRequest);
  const uint32_t cart = b.AddStack({Inside(&std::malloc), Inside(&shop::Cart::AddItem), request});
  const uint32_t catalogue = b.AddStack({Inside(&shop::LoadCatalogue), request});
  const uint32_t nowhere = b.AddStack({0x1234, request});
  for (uint64_t i = 0; i < 40; ++i) {
    b.AddLive(cart, 100 + i * 10, wire::kDefaultIntervalBytes, i * wire::kTickNs);
    b.AddFreed(cart, 2000);
  }
  for (uint64_t i = 0; i < 5; ++i) {
    b.AddLive(catalogue, 3 << 20, wire::kDefaultIntervalBytes, wire::kTickNs);
  }
  b.AddLive(nowhere, 64);
  b.AddPeak(catalogue, 64 << 20);
  b.AddTick(wire::kTickNs, 1 << 20);
  b.header().totals.lost[0] = 3;
  b.header().totals.lost_bytes = 1536 * 1024;
  b.header().agent_private_bytes = 1 << 20;
  if (argc > 2) FillWithRandomStacks(&b, static_cast<uint32_t>(std::atoi(argv[2])));
  b.WriteTo(argv[1]);
  return 0;
}

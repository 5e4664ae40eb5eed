// Drives the engines of its own process by commands, for tests: what an allocator is, its allocator
// is linked in or preloaded.
//
//   engine_probe ENGINE|list [work] [state] [heap FILE] [growth FILE] [statistics] [figures]
//                [enable] [disable] [reset] [interval BYTES] ...
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "service/engines/engines.h"

using heapgauge::Result;
using heapgauge::Status;
using heapgauge::endpoint::Engine;

// Functions to be seen in profiles: 64 MiB and 16 MiB that stay, in blocks of 16 and 4 KiB.
extern "C" {
__attribute__((noinline, noclone)) void* probe_large_block() {
  void* block = malloc(16 << 10);
  if (block != nullptr) memset(block, 1, 64);
  return block;
}
__attribute__((noinline, noclone)) void* probe_small_block() {
  void* block = malloc(4 << 10);
  if (block != nullptr) memset(block, 2, 64);
  return block;
}
}

namespace {

std::vector<void*> kept;

void Work() {
  for (int i = 0; i < 4096; ++i) {
    kept.push_back(probe_large_block());
    kept.push_back(probe_small_block());
  }
}

void Show(const char* command, const Status& status) {
  std::printf("%s: %s\n", command, status ? "ok" : status.error().message.c_str());
}

void Save(const char* command, const Result<std::string>& profile, const char* path) {
  if (!profile) {
    Show(command, tl::unexpected(profile.error()));
    return;
  }
  Show(command, heapgauge::WriteWholeFile(path, *profile));
}

void ShowState(Engine* engine) {
  const Engine::State state = engine->state();
  std::printf("state: can_profile=%d active=%d interval=%llu version=%s\n", state.can_profile,
              state.active, static_cast<unsigned long long>(state.interval), state.version.c_str());
  if (!state.why_not.empty()) std::printf("why_not: %s\n", state.why_not.c_str());
}

int Run(Engine* engine, int count, char** commands) {
  for (int i = 0; i < count; ++i) {
    const std::string command = commands[i];
    const bool has_argument = i + 1 < count;
    if (command == "work") {
      Work();
    } else if (command == "state") {
      ShowState(engine);
    } else if (command == "heap" && has_argument) {
      Save("heap", engine->TakeHeap(), commands[++i]);
    } else if (command == "growth" && has_argument) {
      Save("growth", engine->TakeGrowth(), commands[++i]);
    } else if (command == "statistics") {
      const auto text = engine->Statistics("");
      std::printf("statistics: %s\n", text ? text->c_str() : text.error().message.c_str());
    } else if (command == "figures") {
      for (const auto& [name, value] : engine->Figures()) {
        std::printf("figure: %s = %llu\n", name.c_str(), static_cast<unsigned long long>(value));
      }
    } else if (command == "enable" || command == "disable") {
      Show(command.c_str(), engine->SetActive(command == "enable"));
    } else if (command == "reset") {
      Show("reset", engine->Reset());
    } else if (command == "interval" && has_argument) {
      Show("interval", engine->SetInterval(std::strtoull(commands[++i], nullptr, 10)));
    } else {
      std::fprintf(stderr, "engine_probe: no command '%s'\n", command.c_str());
      return 2;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto engines = heapgauge::engines::FindEngines();
  const std::string wanted = argc > 1 ? argv[1] : "list";
  for (const auto& engine : engines) {
    if (wanted == engine->name()) return Run(engine.get(), argc - 2, argv + 2);
    if (wanted == "list") std::printf("%s\n", std::string(engine->name()).c_str());
  }
  if (wanted == "list") return 0;
  std::fprintf(stderr, "engine_probe: no engine '%s'\n", wanted.c_str());
  return 2;
}

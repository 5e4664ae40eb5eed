#include "core/source/object_code.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/elf/symbols.h"
#include "core/os/file_stamp.h"
#include "core/os/process.h"
#include "core/symbolize/demangle_names.h"
#include "core/symbolize/module_files.h"

extern char** environ;

namespace heapgauge {
namespace {

// What a child is started with; freed with it.
class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Reads until the writer is done. False if it had to be stopped.
bool ReadAll(int fd, const ToolLimits& limits, std::string* output) {
  const uint64_t deadline = MonotonicNow() + limits.seconds * 1'000'000'000;
  char buffer[64 << 10];
  for (;;) {
    const uint64_t now = MonotonicNow();
    if (now >= deadline || output->size() > limits.bytes) return false;
    pollfd ready{fd, POLLIN, 0};
    const int wait_ms = static_cast<int>((deadline - now) / 1'000'000 + 1);
    if (poll(&ready, 1, wait_ms) < 0 && errno != EINTR) return false;
    if (ready.revents == 0) continue;
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) output->append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

Result<std::string> RunTool(const std::vector<std::string>& arguments, const ToolLimits& limits) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(SystemError("cannot make a pipe", errno));
  SpawnActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words[0], actions.get(), nullptr, words.data(), environ);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    const bool missing = error == ENOENT || error == ENOTDIR || error == EACCES;
    return Fail(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
                "cannot run " + arguments[0] + ": " + SystemError("", error).message);
  }
  std::string output;
  const bool finished = ReadAll(ends[0], limits, &output);
  close(ends[0]);
  if (!finished) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!finished) {
    return Fail(ErrorCode::kIo, arguments[0] + " was stopped: it took longer than " +
                                    std::to_string(limits.seconds) +
                                    " seconds or printed more than " +
                                    std::to_string(limits.bytes >> 20) + " MB");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Fail(ErrorCode::kIo, arguments[0] + " failed");
  }
  return output;
}

namespace {

// "401136:	push %rbp"
bool ParseInstruction(std::string_view line, Instruction* out) {
  const auto address = TakeNumber<uint64_t>(&line, 16);
  if (!address || (!line.starts_with(": ") && !line.starts_with(":\t"))) return false;
  out->address = *address;
  out->text = Trim(line.substr(1));
  return true;
}

// LLVM's objdump puts "; " before lines about the source.
std::string_view WithoutMark(std::string_view line) {
  if (line.starts_with(';')) line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// "/src/a.c:12", also with " (discriminator 2)" behind it.
bool ParseFileLine(std::string_view line, std::string* file, int64_t* number) {
  line = WithoutMark(line);
  for (size_t colon = line.rfind(':'); colon != std::string_view::npos && colon > 0;
       colon = line.rfind(':', colon - 1)) {
    std::string_view behind = line.substr(colon + 1);
    const auto value = TakeNumber<int64_t>(&behind);
    if (!value || *value < 0) continue;
    *file = line.substr(0, colon);
    *number = *value;
    return true;
  }
  return false;
}

// "main():" or "0000000000401136 <main>:"
bool ParseFunction(std::string_view line, std::string* function) {
  const std::string_view plain = WithoutMark(line);
  if (plain.ends_with("():") && plain.size() > 3) {
    *function = plain.substr(0, plain.size() - 3);
    return true;
  }
  if (!line.ends_with(':')) return false;
  line.remove_suffix(1);
  const size_t name = line.find('<');
  if (name != std::string_view::npos && line.ends_with('>')) {
    line = line.substr(name + 1, line.size() - name - 2);
  }
  *function = line;
  return true;
}

std::string FindObjdump() {
  const char* tools = std::getenv("PPROF_TOOLS");
  std::string_view list = tools == nullptr ? "" : tools;
  while (!list.empty()) {
    const std::string entry(TakeUntil(&list, ','));
    const size_t colon = entry.find(':');
    if (colon != std::string::npos && entry.substr(0, colon) != "objdump") continue;
    std::string path = colon == std::string::npos ? entry : entry.substr(colon + 1);
    struct stat facts {};
    if (stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) path += "/objdump";
    if (stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) return path;
  }
  return "objdump";
}

}  // namespace

std::vector<Instruction> ParseObjdump(std::string_view output) {
  std::vector<Instruction> result;
  std::string function;
  std::string file;
  int64_t number = 0;
  while (!output.empty()) {
    const std::string_view line = Trim(TakeUntil(&output, '\n'));
    Instruction instruction;
    if (ParseInstruction(line, &instruction)) {
      instruction.function = function;
      instruction.file = file;
      instruction.line = number;
      result.push_back(std::move(instruction));
    } else if (!ParseFileLine(line, &file, &number) && !ParseFunction(line, &function)) {
      function.clear();
      file.clear();
      number = 0;
    }
  }
  return result;
}

Result<std::vector<Instruction>> Disassemble(const std::string& file, uint64_t start, uint64_t last,
                                             bool intel_syntax) {
  std::vector<std::string> arguments = {FindObjdump(),
                                        "--disassemble",
                                        "--demangle",
                                        "--no-show-raw-insn",
                                        "--line-numbers",
                                        fmt::format("--start-address={:#x}", start),
                                        fmt::format("--stop-address={:#x}", last + 1)};
  if (intel_syntax) arguments.insert(arguments.end(), {"-M", "intel"});
  // A name that begins with "-" must not become an option.
  arguments.push_back(file.starts_with('-') ? "./" + file : file);
  auto output = RunTool(arguments);
  if (!output) {
    if (output.error().code != ErrorCode::kNotFound) return tl::unexpected(output.error());
    return Fail(ErrorCode::kNotFound,
                "there is no objdump to disassemble with; install binutils or set PPROF_TOOLS");
  }
  return ParseObjdump(*output);
}

namespace {

struct RawSymbol {
  uint64_t start = 0;
  uint64_t size = 0;
  const char* name = nullptr;  // in the ELF file's string table
};

// The functions of .symtab, or else of .dynsym, by address.
std::vector<RawSymbol> Functions(ElfFile* elf) {
  std::vector<RawSymbol> result;
  VisitSymbols(elf, SymbolSection(*elf), [&](size_t, const Elf64_Sym& symbol, const char* name) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) return;
    if (symbol.st_value == 0 || name == nullptr) return;
    result.push_back({symbol.st_value, symbol.st_size, name});
  });
  std::stable_sort(result.begin(), result.end(),
                   [](const RawSymbol& a, const RawSymbol& b) { return a.start < b.start; });
  return result;
}

// The form of the name that matches, or "".
std::string MatchingName(const std::string& name, const Regex& regex) {
  if (regex.Matches(name)) return name;
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return "";
  for (const auto mode : {DemangleMode::kFull, DemangleMode::kTemplates, DemangleMode::kDefault}) {
    std::string readable = DemangledName(name, mode);
    if (regex.Matches(readable)) return readable;
  }
  return "";
}

}  // namespace

std::vector<uint64_t> ObjectCode::AddressesIn(ModuleId module) const {
  constexpr size_t kEnough = 10000;
  std::vector<uint64_t> addresses;
  for (const Location& location : profile_.locations) {
    if (location.module != module || addresses.size() == kEnough) continue;
    addresses.push_back(location.lookup_address());
  }
  return addresses;
}

const ObjectCode::File& ObjectCode::Open(ModuleId id) {
  const auto [at, added] = files_.try_emplace(id);
  File& file = at->second;
  if (!added) return file;
  const Module& module = profile_.modules[id];
  SymbolizeOptions options;
  if (profile_.recording.state == RecordingState::kLive) options.pid = profile_.recording.pid;
  StampList stamps;
  std::string note;
  auto elf = OpenForeignModule(module, "", options, &stamps, &note);
  if (!elf) {
    file.error = elf.error().message;
    return file;
  }
  file.elf = *std::move(elf);
  file.bias =
      module.load_bias_known ? module.load_bias : FindLoadBias(*file.elf, module, AddressesIn(id));
  return file;
}

std::vector<CodeSymbol> ObjectCode::FindSymbols(ElfFile* elf, const Regex& regex,
                                                uint64_t address) {
  const std::vector<RawSymbol> functions = Functions(elf);
  std::vector<CodeSymbol> result;
  for (size_t begin = 0, end = 0; begin < functions.size(); begin = end) {
    CodeSymbol symbol;
    symbol.start = functions[begin].start;
    uint64_t size = 0;
    std::vector<std::string> names;
    for (end = begin; end < functions.size() && functions[end].start == symbol.start; ++end) {
      size = std::max(size, functions[end].size);
      names.emplace_back(functions[end].name);
    }
    // Code without a size (assembly) reaches to the next function.
    if (size == 0) size = end < functions.size() ? functions[end].start - symbol.start : 1;
    symbol.last = symbol.start + size - 1;
    if (address != 0 && address >= symbol.start && address <= symbol.last) {
      symbol.names = std::move(names);
    } else {
      for (const std::string& name : names) {
        std::string match = MatchingName(name, regex);
        if (match.empty()) continue;
        symbol.names.push_back(std::move(match));
        break;
      }
    }
    if (!symbol.names.empty()) result.push_back(std::move(symbol));
  }
  return result;
}

}  // namespace heapgauge

#include "core/voices/perl/routines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <unordered_map>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/base/text.h"

namespace heapgauge::perl {
namespace {

constexpr size_t kMaxOutput = size_t{256} << 20;

Result<std::string> Output(std::vector<std::string> words) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kIo, fmt::format("pipe: {}", std::strerror(errno)));
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) {
    close(pipe_ends[0]);
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: {} (install binutils, or name it with --tools)", words[0],
                            std::strerror(error)));
  }
  std::string text;
  char buffer[65536];
  while (text.size() < kMaxOutput) {
    const ssize_t got = read(pipe_ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  close(pipe_ends[0]);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

std::string ToolPath(const std::string& name, const Options& options) {
  std::string found;
  std::string_view tools = options.tools;
  while (!tools.empty()) {
    const std::string item(TakeUntil(&tools, ','));
    if (item.starts_with(name + ":")) return item.substr(name.size() + 1);
    if (item.find(':') != std::string::npos || !found.empty()) continue;
    if (access((item + name).c_str(), X_OK) == 0) found = item + name;
  }
  return found.empty() ? name : found;
}

Result<std::vector<ListedInstruction>> Disassemble(const std::string& path, uint64_t start,
                                                   uint64_t end, const Options& options) {
  HG_ASSIGN(const std::string output,
            Output({ToolPath("objdump", options), "-C", "-d", "-l", "--no-show-raw-insn",
                    fmt::format("--start-address=0x{:x}", start),
                    fmt::format("--stop-address=0x{:x}", end), path}));
  static const Regex kPlace(R"(([^:\s]+):(\d+)\s*$)");
  static const Regex kCode(R"(^ +([0-9a-f]{1,16}):\s*(.*))");
  std::vector<ListedInstruction> instructions;
  std::string file;
  int64_t line_number = -1;
  std::string_view rest(output);
  while (!rest.empty()) {
    const std::string_view line = TakeUntil(&rest, '\n');
    std::string_view name, number, text;
    if (kPlace.Matches(line, &name, &number)) {
      file = std::string(name);
      line_number = NumberIn<int64_t>(number).value_or(0);
    } else if (kCode.Matches(line, &number, &text)) {
      ListedInstruction instruction;
      instruction.address = *NumberIn<uint64_t>(number, 16);
      instruction.text = std::string(text);
      if (!instructions.empty()) instructions.back().limit = instruction.address;
      instruction.limit = end;
      instruction.file = file;
      instruction.line = line_number;
      instructions.push_back(std::move(instruction));
    }
  }
  return instructions;
}

AddressFigures::Pair AddressFigures::Sum(uint64_t begin, uint64_t end) const {
  Pair pair;
  if (begin >= end) return pair;
  for (auto it = cum.lower_bound(begin); it != cum.end() && it->first < end; ++it) {
    pair.cum += it->second;
  }
  for (auto it = flat.lower_bound(begin); it != flat.end() && it->first < end; ++it) {
    pair.flat += it->second;
  }
  return pair;
}

AddressFigures CountAddresses(const ReportInput& input) {
  AddressFigures figures;
  std::vector<size_t> last_seen(input.state->pcs.size(), ~size_t{0});
  for (size_t i = 0; i < input.stacks.size(); ++i) {
    const double value = input.stacks.values[i];
    bool first = true;
    for (const PcId pc : input.stacks.stack(i)) {
      const uint64_t address = input.state->pcs[pc].address;
      if (address >> 63 != 0 || last_seen[pc] == i) continue;
      last_seen[pc] = i;
      if (first) {
        figures.flat[address] += value;
        figures.total += value;
      }
      first = false;
      figures.cum[address] += value;
    }
  }
  return figures;
}

Status ForEachRoutine(const ReportInput& input, const AddressFigures& figures,
                      const std::function<Status(const Routine&)>& handle) {
  HG_ASSIGN(const Regex re, Regex::CompilePerl(input.options.pattern));
  SessionState& state = *input.state;
  for (Library& library : state.libraries) {
    if (library.image == nullptr && library.is_rest) {
      library.image = Image::Open(library.module, state.options, state.symbolize);
    }
    if (library.image == nullptr) continue;
    std::map<std::string, const NmTable::Entry*> chosen;
    for (const NmTable::Entry& entry : library.image->nm().entries()) {
      const uint64_t begin = entry.start + library.bias;
      const auto sample = figures.cum.lower_bound(begin);
      if (sample == figures.cum.end() || sample->first >= entry.end + library.bias) continue;
      std::string name = entry.FullName();
      if (re.Matches(name)) chosen[std::move(name)] = &entry;
    }
    std::vector<Routine> routines;
    for (const auto& [name, entry] : chosen) {
      routines.push_back(
          {&library, ShortFunctionName(name, input.options), entry->start, entry->end});
    }
    std::stable_sort(routines.begin(), routines.end(), [](const Routine& a, const Routine& b) {
      return a.name != b.name ? a.name < b.name : a.start < b.start;
    });
    for (const Routine& routine : routines) HG_TRY(handle(routine));
  }
  return {};
}

// --disasm: instructions of functions with figures, and the source lines between them.

namespace {

class Disassembly {
 public:
  Disassembly(const ReportInput& input, const AddressFigures& figures, TextSink* out, TextSink* err)
      : input_(input), figures_(figures), out_(out), err_(err) {}

  Status Write(const Routine& routine) {
    HG_ASSIGN(const auto code, Disassemble(routine.library->image->path(), routine.start,
                                           routine.end, input_.options));
    const uint64_t bias = routine.library->bias;
    std::vector<AddressFigures::Pair> counts;
    AddressFigures::Pair sum;
    for (const ListedInstruction& instruction : code) {
      counts.push_back(figures_.Sum(instruction.address + bias, routine.Limit(instruction)));
      sum.flat += counts.back().flat;
      sum.cum += counts.back().cum;
    }
    HG_TRY(out_->Write(fmt::format(
        "ROUTINE ====================== {}\n{:>6} {:>6} {} (flat, cumulative) {:.1f}% of total\n",
        routine.name, input_.Figure(sum.flat), input_.Figure(sum.cum), input_.units(),
        sum.cum * 100.0 / figures_.total)));
    std::string file;
    for (size_t i = 0; i < code.size();) {
      if (code[i].file != file) {
        file = code[i].file;
        HG_TRY(WriteFile(file));
      }
      size_t end = i;
      AddressFigures::Pair line;
      while (end < code.size() && code[end].line == code[i].line) {
        line.flat += counts[end].flat;
        line.cum += counts[end].cum;
        ++end;
      }
      HG_TRY(WriteSource(file, code[i].line, line));
      for (; i < end; ++i) {
        HG_TRY(out_->Write(fmt::format("{:>6} {:>6}    {:>8}: {:>6}\n", OrDot(counts[i].flat),
                                       OrDot(counts[i].cum), fmt::format("{:x}", code[i].address),
                                       CleanDisassembly(code[i].text))));
      }
    }
    return {};
  }

 private:
  std::string OrDot(double value) const {
    return UnparseOrDot(value, input_.state->kind, input_.options);
  }

  Status WriteFile(std::string name) {
    if (name.starts_with("./")) name.erase(0, 2);
    if (name.size() >= 58) name = "..." + name.substr(name.size() - 55);
    return out_->Write("-------------------- " + name + "\n");
  }

  Status WriteSource(const std::string& file, int64_t number, AddressFigures::Pair line) {
    HG_ASSIGN(const std::vector<std::string>* lines, Lines(file));
    if (number < 0 || static_cast<size_t>(number) >= lines->size()) return {};
    const std::string_view text = TrimLeft((*lines)[static_cast<size_t>(number)]);
    return out_->Write(
        fmt::format("{:>6} {:>6} {:>5}: {}", OrDot(line.flat), OrDot(line.cum), number, text));
  }

  // Lines of a file, counted from 1, with their ends; none if it cannot be read, which is told
  // once.
  Result<const std::vector<std::string>*> Lines(const std::string& file) {
    const auto [it, is_new] = files_.try_emplace(file);
    if (!is_new) return &it->second;
    std::ifstream stream(file);
    if (!stream) {
      HG_TRY(err_->Write(fmt::format("{}: {}\n", file, std::strerror(errno))));
      return &it->second;
    }
    it->second.emplace_back();
    std::string line;
    while (std::getline(stream, line)) {
      if (!stream.eof()) line += '\n';
      it->second.push_back(line);
    }
    return &it->second;
  }

  const ReportInput& input_;
  const AddressFigures& figures_;
  TextSink* out_;
  TextSink* err_;
  std::unordered_map<std::string, std::vector<std::string>> files_;
};

}  // namespace

Status WriteDisassembly(const ReportInput& input, TextSink* out, TextSink* err) {
  const AddressFigures figures = CountAddresses(input);
  Disassembly disassembly(input, figures, out, err);
  return ForEachRoutine(input, figures,
                        [&](const Routine& routine) { return disassembly.Write(routine); });
}

}  // namespace heapgauge::perl

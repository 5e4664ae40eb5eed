// --disasm: instructions of functions with figures, and the source lines between them.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <unordered_map>

#include "core/voices/perl/routines.h"

namespace heapgauge::perl {
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
    std::string text = (*lines)[static_cast<size_t>(number)];
    text.erase(0, std::min(text.find_first_not_of(" \t\n\r\f\v"), text.size()));
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

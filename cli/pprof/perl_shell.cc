#include "cli/pprof/perl_shell.h"

#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

constexpr const char* kHelp =
    R"(Commands:
  text[N], top[N] [--cum] [-IGNORE]...      the first N lines of the text report (10)
  list FUNCTION [-IGNORE]...                source of matching functions
  weblist FUNCTION [-IGNORE]...             the same in a browser
  disasm FUNCTION [-IGNORE]...              assembly of matching functions
  gv, web, evince [FOCUS]... [-IGNORE]...   the graph of stacks that match FOCUS
  callgrind [FILE]                          the call graph for callgrind's tools
  help, quit
FUNCTION, FOCUS and IGNORE are regular expressions. --lines reports lines in place of functions.)";

constexpr struct {
  std::string_view name;
  perl::Report report;
} kCommands[] = {
    // As the tools match them: a command is what the line begins with.
    {"text", perl::Report::kText},
    {"top", perl::Report::kText},
    {"callgrind", perl::Report::kCallgrind},
    {"weblist", perl::Report::kWeblist},
    {"list", perl::Report::kList},
    {"disasm", perl::Report::kDisasm},
    {"gv", perl::Report::kGv},
    {"web", perl::Report::kWeb},
    {"evince", perl::Report::kEvince},
};

bool TakeWord(std::string_view word, std::string_view* text) {
  if (text->substr(0, word.size()) != word) return false;
  text->remove_prefix(word.size());
  return true;
}

void AddPattern(std::string_view word, std::string* pattern) {
  if (!pattern->empty()) *pattern += '|';
  *pattern += word;
}

// Takes the arguments of a command apart; gives what is looked for.
std::string TakeArguments(std::string_view text, perl::Options* options, PerlStep* step) {
  std::string wanted;
  std::string ignored;
  for (const std::string& word : WordsOf(text, kBlanks)) {
    if (word == "-lines" || word == "--lines") {
      options->grain = perl::Grain::kLines;
    } else if (word == "-cum" || word == "--cum") {
      options->cum = true;
    } else if (word.front() == '-') {
      AddPattern(std::string_view(word).substr(1), &ignored);
    } else {
      AddPattern(word, &wanted);
    }
  }
  if (!ignored.empty()) {
    step->messages.push_back("Ignoring samples in call stacks that match '" + ignored + "'");
  }
  options->shell_ignore = ignored;
  return wanted;
}

}  // namespace

PerlStep ParsePerlLine(std::string_view line, const perl::Options& options) {
  PerlStep step;
  std::string_view rest = TrimLeft(line, kBlanks);
  if (rest.empty()) return step;
  if (TakeWord("quit", &rest)) {
    step.quit = true;
    return step;
  }
  if (TakeWord("help", &rest)) {
    step.messages.emplace_back(kHelp);
    return step;
  }
  for (const auto& command : kCommands) {
    if (!TakeWord(command.name, &rest)) continue;
    perl::Options report = options;
    report.report = command.report;
    report.in_shell = true;
    report.cum = false;
    if (command.report == perl::Report::kText) {
      report.line_limit = TakeNumber<int64_t>(&rest).value_or(10);
      TakeArguments(rest, &report, &step);
    } else if (command.report == perl::Report::kCallgrind) {
      const std::vector<std::string> words = WordsOf(rest, kBlanks);
      step.output = words.empty() ? "" : words.front();
    } else {
      const std::string wanted = TakeArguments(rest, &report, &step);
      const bool graph = command.report == perl::Report::kGv ||
                         command.report == perl::Report::kWeb ||
                         command.report == perl::Report::kEvince;
      (graph ? report.shell_focus : report.pattern) = wanted;
      if (!graph && wanted.empty()) {
        step.messages.push_back(std::string(command.name) + " needs the name of a function");
        return step;
      }
    }
    step.report = std::move(report);
    return step;
  }
  step.messages.emplace_back("Unknown command: try 'help'.");
  return step;
}

std::vector<std::string> PerlCompletions(std::string_view line) {
  std::vector<std::string> ways;
  const auto add = [&](std::string_view name) {
    if (name.substr(0, line.size()) == line) ways.emplace_back(name);
  };
  for (const auto& command : kCommands) add(command.name);
  add("help");
  add("quit");
  return ways;
}

}  // namespace heapgauge::cli

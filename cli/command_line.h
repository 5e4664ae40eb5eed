// How commands say which words they take: a thin front of CLI11.
//
// CLI11 is all templates, and costs more seconds in every file that includes it than the commands
// themselves. Only command_line.cc does; the rest sees these few types. Commands and options are
// handles, cheap to copy, on what the CommandLine owns: they, and the variables that options fill,
// have to be there until the command has run. Single-threaded.
//
// There are hundreds of options, and to describe them to CLI11 takes longer than many commands
// themselves. So a command line keeps no more of a command than name, summary and the function that
// describes it, which is called for the one that the words name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heapgauge::cli {

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option Required() const;
  Option OneOf(const std::vector<std::string>& values) const;
  Option NonNegative() const;
  // An empty word, which a script's empty variable gives, is refused rather than taken for none.
  Option NotEmpty() const;
  Option Between(double least, double most) const;
  // Not together with the other one.
  Option Excludes(Option other) const;
  // Under a heading of its own in --help.
  Option InGroup(const std::string& heading) const;
  // A list of which each use of the option adds one.
  Option OneEachTime() const;

  // Whether the words have it, also with an empty value. For OnChosen.
  bool given() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command Sub(const std::string& name, const std::string& summary) const;
  // One of the commands below has to be named.
  void RequireSub() const;
  // What --help says after the options.
  void Footer(const std::string& text) const;

  // An option with a value ("-o,--output") or a word at its place ("SOURCE").
  Option Add(const std::string& names, std::string* value, const std::string& help) const;
  Option Add(const std::string& names, std::vector<std::string>* value,
             const std::string& help) const;
  Option Add(const std::string& names, int* value, const std::string& help) const;
  Option Add(const std::string& names, uint32_t* value, const std::string& help) const;
  Option Add(const std::string& names, uint64_t* value, const std::string& help) const;
  Option Add(const std::string& names, double* value, const std::string& help) const;
  Option Add(const std::string& names, std::function<void(const std::string&)> set,
             const std::string& help) const;
  // An option that needs no value. As text, "--watch{2}" means 2 where it has none.
  Option Flag(const std::string& names, bool* value, const std::string& help) const;
  Option Flag(const std::string& names, std::string* value, const std::string& help) const;
  Option Flag(const std::string& names, std::function<void()> given, const std::string& help) const;

  // Called while parsing, once all words of the command are known.
  void OnChosen(std::function<void()> chosen) const;

  // From the first word that is no option on, words are not looked at but kept, for OnChosen.
  void KeepRest() const;
  std::vector<std::string> Rest() const;
  // Ends parsing, with the message that words which are not known get. For OnChosen alone.
  [[noreturn]] void RejectRest() const;

 private:
  template <typename Value>
  Option AddAny(const std::string& names, Value* value, const std::string& help) const;

  CLI::App* app_;
};

class CommandLine {
 public:
  // Adds the footer and the options of a command. Called while parsing, at most once.
  using Describe = std::function<void(Command)>;

  CommandLine(const std::string& summary, const std::string& footer, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // A command; --help lists them in this order.
  void Add(const std::string& name, const std::string& summary, Describe describe);
  std::vector<std::string> CommandNames() const;

  // False if that was all: --help and --version print what they are asked for. To be called once.
  Result<bool> Parse(int argc, const char* const* argv);

 private:
  struct Entry {
    std::string name;
    std::string summary;
    Describe describe;
  };

  // Tells CLI11 of the command that the words name, or by their summaries of all if they name none.
  void AddMeant(int argc, const char* const* argv);

  std::unique_ptr<CLI::App> app_;
  std::vector<Entry> entries_;
};

}  // namespace heapgauge::cli

#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

// "--name=" without a value, or "". CLI11 would take the next word for it, whatever that is.
std::string OptionWithoutValue(const CLI::App* app, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.size() < 2 || word[0] != '-') {
      const auto named =
          app->get_subcommands([&](const CLI::App* command) { return command->check_name(word); });
      if (!named.empty()) {
        app = named.front();
      } else if (app->get_prefix_command()) {
        return "";  // the rest belongs to the program that is run
      }
      continue;
    }
    const size_t equals = word.find('=');
    const CLI::Option* option = app->get_option_no_throw(word.substr(0, equals));
    if (option == nullptr) continue;
    if (equals != std::string::npos && equals + 1 == word.size()) return word;
    if (equals == std::string::npos && option->get_items_expected_min() > 0) ++i;
  }
  return "";
}

// What to say of words that nobody takes: of the first option among them, as the others may be its
// value, or of the first word.
std::string AboutUnknown(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty()) return "there is a word too many";
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word[0] == '-';
  });
  if (option == words.end()) return "'" + words.front() + "' is a word too many";
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* known : command->get_options()) {
      for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    }
  }
  const std::string name = option->substr(0, option->find('='));
  const std::string near = Nearest(name, names);
  return "there is no option '" + name + "'" +
         (near.empty() ? "" : "; did you mean '" + near + "'?");
}

}  // namespace

Option Option::Required() const {
  option_->required();
  return *this;
}

Option Option::OneOf(const std::vector<std::string>& values) const {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option Option::NotEmpty() const {
  const auto check = [](const std::string& text) {
    return text.empty() ? std::string("is empty; leave the option out, or give it a value") : "";
  };
  option_->check(CLI::Validator(check, ""));
  return *this;
}

// CLI's own check names the largest double, with 309 digits.
Option Option::NonNegative() const {
  const auto check = [](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool good = end != text.c_str() && *end == 0 && value >= 0;
    return good ? std::string() : "'" + text + "' is not a number from 0 on";
  };
  option_->check(CLI::Validator(check, "NONNEGATIVE"));
  return *this;
}

Option Option::Between(double least, double most) const {
  // CLI11's own says "not in range 0.000000 to 255.000000".
  const auto check = [=](const std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) {
      return std::string();
    }
    return fmt::format("{} is not between {} and {}", Printable(text), least, most);
  };
  option_->check(check, fmt::format("{}-{}", least, most));
  return *this;
}

Option Option::Excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::InGroup(const std::string& heading) const {
  option_->group(heading);
  return *this;
}

Option Option::OneEachTime() const {
  option_->expected(1)->take_all();
  return *this;
}

bool Option::given() const { return option_->count() != 0; }

Command Command::Sub(const std::string& name, const std::string& summary) const {
  return Command(app_->add_subcommand(name, summary));
}

void Command::RequireSub() const { app_->require_subcommand(1); }

void Command::Footer(const std::string& text) const { app_->footer(text); }

template <typename Value>
Option Command::AddAny(const std::string& names, Value* value, const std::string& help) const {
  return Option(app_->add_option(names, *value, help));
}

Option Command::Add(const std::string& names, std::string* value, const std::string& help) const {
  return AddAny(names, value, help);
}

Option Command::Add(const std::string& names, std::vector<std::string>* value,
                    const std::string& help) const {
  return AddAny(names, value, help);
}

Option Command::Add(const std::string& names, int* value, const std::string& help) const {
  return AddAny(names, value, help);
}

Option Command::Add(const std::string& names, uint32_t* value, const std::string& help) const {
  return AddAny(names, value, help);
}

Option Command::Add(const std::string& names, uint64_t* value, const std::string& help) const {
  return AddAny(names, value, help);
}

Option Command::Add(const std::string& names, double* value, const std::string& help) const {
  return AddAny(names, value, help);
}

Option Command::Add(const std::string& names, std::function<void(const std::string&)> set,
                    const std::string& help) const {
  return Option(app_->add_option_function(names, std::move(set), help));
}

Option Command::Flag(const std::string& names, bool* value, const std::string& help) const {
  return Option(app_->add_flag(names, *value, help));
}

Option Command::Flag(const std::string& names, std::string* value, const std::string& help) const {
  return Option(app_->add_flag(names, *value, help));
}

Option Command::Flag(const std::string& names, std::function<void()> given,
                     const std::string& help) const {
  return Option(app_->add_flag_callback(names, std::move(given), help));
}

void Command::OnChosen(std::function<void()> chosen) const { app_->callback(std::move(chosen)); }

void Command::KeepRest() const { app_->prefix_command(); }

std::vector<std::string> Command::Rest() const { return app_->remaining(); }

void Command::RejectRest() const { throw CLI::ExtrasError(app_->remaining()); }

CommandLine::CommandLine(const std::string& summary, const std::string& footer,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(summary, "heapgauge")) {
  app_->footer(footer);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

void CommandLine::Add(const std::string& name, const std::string& summary, Describe describe) {
  entries_.push_back({name, summary, std::move(describe)});
}

std::vector<std::string> CommandLine::CommandNames() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

// No option of the whole program takes a value, so that the first word which is a command's name
// means it. CLI11 looks for no other command after that.
void CommandLine::AddMeant(int argc, const char* const* argv) {
  const Command root(app_.get());
  for (int i = 1; i < argc; ++i) {
    const auto meant = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.name == argv[i]; });
    if (meant == entries_.end()) continue;
    meant->describe(root.Sub(meant->name, meant->summary));
    return;
  }
  for (const Entry& entry : entries_) root.Sub(entry.name, entry.summary);
}

Result<bool> CommandLine::Parse(int argc, const char* const* argv) {
  AddMeant(argc, argv);
  if (const std::string word = OptionWithoutValue(app_.get(), argc, argv); !word.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                word + " has no value; an empty one is a word of its own: " +
                    word.substr(0, word.size() - 1) + " ''");
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return Fail(ErrorCode::kInvalidArgument, AboutUnknown(*app_));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app_->exit(error);  // prints
      return false;
    }
    const std::string text = error.what();
    return Fail(ErrorCode::kInvalidArgument, text.substr(0, text.find('\n')));
  }
  return true;
}

}  // namespace heapgauge::cli

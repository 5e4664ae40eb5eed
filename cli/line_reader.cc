#include "cli/line_reader.h"

#include <histedit.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "cli/cli.h"
#include "core/base/file.h"

namespace heapgauge::cli {
namespace {

constexpr int kHistoryLines = 1000;

// "" if there is no place for it.
std::string HistoryPath() {
  const char* state = std::getenv("XDG_STATE_HOME");
  std::string directory = state == nullptr ? "" : state;
  if (directory.empty()) {
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') return "";
    directory = std::string(home) + "/.local/state";
  }
  directory += "/heapgauge";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return error ? "" : directory + "/history";
}

bool CanEdit() {
  const char* term = std::getenv("TERM");
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && term != nullptr &&
         *term != '\0' && std::strcmp(term, "dumb") != 0;
}

// What all ways begin with.
std::string CommonStart(const std::vector<std::string>& ways) {
  std::string common = ways.front();
  for (const std::string& way : ways) {
    size_t same = 0;
    while (same < common.size() && same < way.size() && common[same] == way[same]) ++same;
    common.resize(same);
  }
  return common;
}

}  // namespace

struct PromptReader::Editor {
  EditLine* edit = nullptr;
  History* history = nullptr;
  std::string history_path;
  std::string prompt;
  const Completer* completer = nullptr;

  static Editor* Of(EditLine* edit) {
    Editor* editor = nullptr;
    el_get(edit, EL_CLIENTDATA, &editor);
    return editor;
  }

  static char* Prompt(EditLine* edit) { return Of(edit)->prompt.data(); }

  static unsigned char Complete(EditLine* edit, int) {
    const LineInfo* info = el_line(edit);
    const std::string line(info->buffer, info->cursor);
    const std::vector<std::string> ways = (*Of(edit)->completer)(line);
    if (ways.empty()) return CC_REFRESH_BEEP;
    const size_t space = line.find_last_of(" \t");
    const std::string word = space == std::string::npos ? line : line.substr(space + 1);
    const std::string common = CommonStart(ways);
    // A function is found by any part of its name, so the whole word is put anew.
    if (ways.size() == 1 || common.size() > word.size()) {
      el_deletestr(edit, static_cast<int>(word.size()));
      el_insertstr(edit, (ways.size() == 1 ? ways.front() + " " : common).c_str());
      return CC_REFRESH;
    }
    std::string list = "\n";
    constexpr size_t kShown = 40;
    for (size_t i = 0; i < ways.size() && i < kShown; ++i) list += "  " + ways[i] + "\n";
    if (ways.size() > kShown) {
      list += "  and " + std::to_string(ways.size() - kShown) + " more\n";
    }
    PrintOut(list);
    return CC_REDISPLAY;
  }
};

PromptReader::PromptReader(std::string prompt, Completer completer, int prompt_fd)
    : prompt_(std::move(prompt)), completer_(std::move(completer)), prompt_fd_(prompt_fd) {
  if (!CanEdit()) return;
  editor_ = std::make_unique<Editor>();
  Editor& editor = *editor_;
  editor.prompt = prompt_;
  editor.completer = &completer_;
  editor.edit = el_init("heapgauge", stdin, stdout, stderr);
  if (editor.edit == nullptr) {
    editor_.reset();
    return;
  }
  el_set(editor.edit, EL_CLIENTDATA, &editor);
  el_set(editor.edit, EL_PROMPT, &Editor::Prompt);
  el_set(editor.edit, EL_EDITOR, "emacs");
  el_set(editor.edit, EL_SIGNAL, 1);
  el_set(editor.edit, EL_ADDFN, "complete", "complete the word", &Editor::Complete);
  el_set(editor.edit, EL_BIND, "^I", "complete", nullptr);
  el_set(editor.edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(editor.edit, nullptr);
  editor.history = history_init();
  if (editor.history == nullptr) return;
  HistEvent event;
  history(editor.history, &event, H_SETSIZE, kHistoryLines);
  history(editor.history, &event, H_SETUNIQUE, 1);
  el_set(editor.edit, EL_HIST, history, editor.history);
  editor.history_path = HistoryPath();
  if (!editor.history_path.empty()) {
    history(editor.history, &event, H_LOAD, editor.history_path.c_str());
  }
}

PromptReader::~PromptReader() {
  if (editor_ == nullptr) return;
  if (editor_->history != nullptr) {
    HistEvent event;
    if (!editor_->history_path.empty()) {
      history(editor_->history, &event, H_SAVE, editor_->history_path.c_str());
      chmod(editor_->history_path.c_str(), 0600);
    }
    history_end(editor_->history);
  }
  el_end(editor_->edit);
}

std::optional<std::string> PromptReader::Read() {
  if (editor_ == nullptr) {
    if (prompt_fd_ == STDOUT_FILENO) {
      PrintOut(prompt_);
    } else {
      (void)WriteToDescriptor(prompt_fd_, prompt_, "standard error");
    }
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  int count = 0;
  const char* text = el_gets(editor_->edit, &count);
  if (text == nullptr || count <= 0) {
    PrintOut("\n");
    return std::nullopt;
  }
  std::string line(text, static_cast<size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (editor_->history != nullptr && line.find_first_not_of(" \t") != std::string::npos) {
    HistEvent event;
    history(editor_->history, &event, H_ENTER, line.c_str());
  }
  return line;
}

}  // namespace heapgauge::cli

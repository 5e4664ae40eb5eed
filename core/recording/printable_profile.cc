#include "core/recording/printable_profile.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/text.h"

namespace heapgauge {
namespace {

void Clean(std::string* text) {
  const bool is_plain =
      std::all_of(text->begin(), text->end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (!is_plain) *text = Printable(*text);
}

void CleanLines(std::string* text) {
  std::string clean;
  for (size_t at = 0; at <= text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    std::string line = text->substr(at, end - at);
    Clean(&line);
    clean += line;
    if (end < text->size()) clean += '\n';
    at = end + 1;
  }
  *text = std::move(clean);
}

}  // namespace

void MakePrintable(Profile* profile) {
  for (Function& function : profile->functions) {
    Clean(&function.name);
    Clean(&function.system_name);
    Clean(&function.file);
  }
  for (Module& module : profile->modules) {
    Clean(&module.path);
    Clean(&module.build_id);
  }
  for (SampleType& type : profile->sample_types) {
    Clean(&type.name);
    Clean(&type.unit);
  }
  Clean(&profile->period_type.name);
  Clean(&profile->period_type.unit);
  for (std::string& text : profile->strings) Clean(&text);
  for (std::string& comment : profile->comments) CleanLines(&comment);
  Clean(&profile->recording.program);
  for (std::string& argument : profile->recording.command_line) Clean(&argument);
}

}  // namespace heapgauge

#include "core/formats/printable_profile.h"

#include <algorithm>
#include <string>

#include "core/base/text.h"

namespace heapgauge {
namespace {

void Clean(std::string* text) {
  const bool is_plain =
      std::all_of(text->begin(), text->end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (!is_plain) *text = Printable(*text);
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
  Clean(&profile->recording.program);
  for (std::string& argument : profile->recording.command_line) Clean(&argument);
}

}  // namespace heapgauge

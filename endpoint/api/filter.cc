#include "endpoint/api/filter.h"

#include <algorithm>
#include <vector>

#include "core/base/text.h"

namespace heapgauge::endpoint::api {
namespace {

tl::unexpected<Error> Bad(const std::string& message) {
  return Fail(ErrorCode::kInvalidArgument, message);
}

const ViewField* FieldOf(std::string_view parameter) {
  for (const ViewField& field : ViewFields()) {
    if (!parameter.empty() && ParameterName(field) == parameter) return &field;
  }
  return nullptr;
}

Status SetField(const ViewField& field, const std::string& text, View* view) {
  if (field.Set(text, view)) return {};
  std::string words = std::string(field.name) + " is 1 or 0";
  if (const auto* choice = std::get_if<ViewField::Choice>(&field.value)) {
    words = std::string(field.name) + " is one of:";
    for (const char* word : choice->words) words.append(" ").append(word);
  }
  return Bad(words);
}

}  // namespace

std::string ParameterName(const ViewField& field) {
  if (field.part == kGaugeFields) return "";
  return std::string(field.name) + (field.name.ends_with("source") ? "-file" : "");
}

Result<Filter> ParseFilter(const Headers& parameters, std::span<const std::string_view> also) {
  Filter filter;
  std::vector<std::string_view> seen;
  for (const auto& [name, value] : parameters) {
    const ViewField* const field = FieldOf(name);
    const bool many = field != nullptr && std::holds_alternative<ViewField::Texts>(field->value);
    if (!many && std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return Bad("the parameter " + Printable(name) + " is given twice");
    }
    seen.push_back(name);
    if (field != nullptr) {
      HG_TRY(SetField(*field, value, &filter));
    } else if (name == "source") {
      filter.source = value;
    } else if (name == "hold") {
      filter.hold = value;
    } else if (std::find(also.begin(), also.end(), name) == also.end()) {
      return Bad("there is no parameter " + Printable(name) + " here");
    }
  }
  return filter;
}

}  // namespace heapgauge::endpoint::api

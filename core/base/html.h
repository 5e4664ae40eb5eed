// Text that goes into HTML or SVG, between tags or inside a quoted attribute.
#pragma once

#include <string>
#include <string_view>

namespace heapgauge {

std::string EscapeHtml(std::string_view text);

// The same for text from anywhere, such as names of functions: control
// characters and broken UTF-8 become a mark.
std::string HtmlText(std::string_view text);

}  // namespace heapgauge

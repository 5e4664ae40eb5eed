// Text that goes into HTML or SVG, between tags or inside a quoted attribute.
#ifndef HEAPGAUGE_CORE_BASE_HTML_H_
#define HEAPGAUGE_CORE_BASE_HTML_H_

#include <string>
#include <string_view>

namespace heapgauge {

std::string EscapeHtml(std::string_view text);

// The same for text from anywhere, such as names of functions: control
// characters and broken UTF-8 become a mark.
std::string HtmlText(std::string_view text);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_HTML_H_

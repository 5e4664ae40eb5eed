// The page of "weblist": source lines that open to show their instructions. No scripts.
#pragma once

#include <string>

namespace heapgauge::perl {

std::string HtmlHead(const std::string& program, const std::string& total);
std::string HtmlFoot();
// `code` is escaped already and may be ""; `live`: the line has figures.
std::string HtmlSourceLine(const std::string& line, const std::string& code, bool live);

}  // namespace heapgauge::perl

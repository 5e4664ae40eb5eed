// The page of "weblist": source lines that open to show their instructions. No scripts.
#ifndef HEAPGAUGE_CORE_VOICES_PERL_HTML_H_
#define HEAPGAUGE_CORE_VOICES_PERL_HTML_H_

#include <string>

namespace heapgauge::perl {

std::string HtmlHead(const std::string& program, const std::string& total);
std::string HtmlFoot();
// `code` is escaped already and may be ""; `live`: the line has figures.
std::string HtmlSourceLine(const std::string& line, const std::string& code, bool live);

}  // namespace heapgauge::perl

#endif  // HEAPGAUGE_CORE_VOICES_PERL_HTML_H_

#include "core/voices/perl/html.h"

#include "core/base/html.h"

namespace heapgauge::perl {

std::string HtmlHead(const std::string& program, const std::string& total) {
  return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + EscapeHtml(program) +
         "</title>\n<style>\n"
         "body { font-family: sans-serif; }\n"
         "h1 { font-size: 1.4em; margin-bottom: 0.2em; }\n"
         "details { display: block; }\n"
         "summary { list-style: none; cursor: pointer; color: #666; }\n"
         "summary:hover { background: #eee; }\n"
         ".live { color: #00c; }\n"
         ".none { color: #999; }\n"
         ".code { color: #060; }\n"
         "</style></head><body>\n<p>" +
         EscapeHtml(program) + "<br>" + EscapeHtml(total) + "</p>\n";
}

std::string HtmlFoot() { return "</body></html>\n"; }

std::string HtmlSourceLine(const std::string& line, const std::string& code, bool live) {
  const std::string text = EscapeHtml(line);
  if (code.empty()) return "<span class=\"none\">" + text + "</span>\n";
  return std::string("<details><summary") + (live ? " class=\"live\">" : ">") + text +
         "</summary><span class=\"code\">" + code + "</span></details>";
}

}  // namespace heapgauge::perl

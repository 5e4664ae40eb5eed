// What all pages have in common: one file of HTML that needs nothing from elsewhere, and headers
// that let the browser run nothing but what we wrote.
//
// Any thread.
#pragma once

#include <string>
#include <string_view>

#include "endpoint/base/message.h"

namespace heapgauge::endpoint {

struct Page {
  std::string title;   // plain text
  std::string style;   // further rules, ours
  std::string script;  // ours; "" none
  std::string body;    // HTML
};

// Scripts and styles run by a nonce of this answer alone, so that nothing which got into the body
// by mistake would run. Frames and forms lead to this server only.
Response HtmlPage(Page page);

// A picture of ours, which may have one <script> and one <style> of its own. Opened by itself or in
// a frame, it is in a sandbox: its scripts reach nothing.
Response SvgPicture(std::string svg);

// In quotes.
std::string JsonText(std::string_view text);

}  // namespace heapgauge::endpoint

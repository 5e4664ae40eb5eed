#include "endpoint/dialects/page.h"

#include <fmt/format.h>

#include "core/base/encode.h"
#include "core/base/text.h"
#include "endpoint/base/answers.h"

namespace heapgauge::endpoint {
namespace {

constexpr std::string_view kCommonStyle = R"css(
:root { color-scheme: light dark; --dim: #666; --line: #ccc; --soft: #f3f2ee; --go: #0a58ca; --warn: #8a4b00; --warn-back: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --dim: #aaa; --line: #444; --soft: #2a2a2a; --go: #7db2ff; --warn: #ffd48a; --warn-back: #3a2c10; } }
body { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 12px 16px; }
h1 { font-size: 18px; margin: 0 0 4px; }
pre { font: 12.5px/1.4 "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-x: auto; margin: 8px 0; }
a { color: var(--go); }
)css";

// Inserts an attribute into the first `tag` of the text.
void AddNonce(std::string_view tag, const std::string& nonce, std::string* text) {
  const size_t at = text->find(tag);
  if (at != std::string::npos) text->insert(at + tag.size(), " nonce=\"" + nonce + "\"");
}

}  // namespace

Response HtmlPage(Page page) {
  const std::string nonce = RandomText();
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
      "<style nonce=\"{}\">{}{}</style></head>\n<body>\n{}",
      EscapeHtml(Printable(page.title)), nonce, kCommonStyle, page.style, page.body);
  if (!page.script.empty()) {
    html += fmt::format("<script nonce=\"{}\">{}</script>\n", nonce, page.script);
  }
  html += "</body></html>\n";
  // Without a nonce nothing runs: the page still shows and its forms still work.
  const std::string own = nonce.empty() ? "'none'" : "'nonce-" + nonce + "'";
  return {200,
          {{"Content-Type", "text/html; charset=utf-8"},
           {"Content-Security-Policy",
            fmt::format("default-src 'none'; script-src {0}; style-src {0}; img-src 'self'; "
                        "frame-src 'self'; form-action 'self'; base-uri 'none'; "
                        "frame-ancestors 'none'",
                        own)},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"Cache-Control", "no-store"}},
          std::move(html)};
}

Response SvgPicture(std::string svg) {
  const std::string nonce = RandomText();
  AddNonce("<style", nonce, &svg);
  AddNonce("<script", nonce, &svg);
  const std::string own = nonce.empty() ? "'none'" : "'nonce-" + nonce + "'";
  return {200,
          {{"Content-Type", "image/svg+xml; charset=utf-8"},
           {"Content-Security-Policy",
            fmt::format("default-src 'none'; script-src {0}; style-src {0}; sandbox allow-scripts; "
                        "frame-ancestors 'self'",
                        own)},
           {"X-Frame-Options", "SAMEORIGIN"},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"Cache-Control", "no-store"}},
          std::move(svg)};
}

std::string JsonText(std::string_view text) {
  return '"' + WithBackslashes(Printable(text), "\"\\") + '"';
}

}  // namespace heapgauge::endpoint

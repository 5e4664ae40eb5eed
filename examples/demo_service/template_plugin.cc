// The plugin: compiles a page's template at its first use, keeps it, and renders into a fresh
// buffer.

#include "examples/demo_service/template_plugin.h"

#include <map>
#include <mutex>
#include <string>

#include "examples/demo_service/accounting.h"
#include "examples/demo_service/buffer.h"

namespace {

constexpr size_t kTemplateBytes = 6 * 1024;

struct Templates {
  std::mutex mutex;
  std::map<uint64_t, demo::Buffer> by_page;
  demo::Account account;
};

// Never destroyed: the service may still render while the process ends.
Templates& State() {
  static auto* templates = new Templates;
  return *templates;
}

[[gnu::noinline]] const demo::Buffer& CompileTemplate(Templates& state, uint64_t page) {
  demo::Buffer& compiled = state.by_page[page];
  if (compiled.empty()) {
    compiled = demo::Buffer(new char[kTemplateBytes], kTemplateBytes, &state.account);
    compiled.Append("<p>Page " + std::to_string(page) + "</p>");
    compiled.Fill('.');
  }
  return compiled;
}

}  // namespace

size_t RenderTemplate(uint64_t page, uint64_t user) {
  Templates& state = State();
  const std::lock_guard lock(state.mutex);
  const demo::Buffer& compiled = CompileTemplate(state, page);

  constexpr size_t kHtmlBytes = kTemplateBytes + 256;
  demo::Buffer html(new char[kHtmlBytes], kHtmlBytes, &state.account);
  html.Append("<html>");
  html.Append(compiled.text());
  html.Append("for user " + std::to_string(user) + "</html>");
  return html.text().size();
}

TemplatePluginUsage GetTemplatePluginUsage() {
  const Templates& state = State();
  return {state.account.live(), state.account.allocated()};
}

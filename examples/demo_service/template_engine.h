// Loads the template plugin and calls it. Threads: any, once Load() has returned.
#ifndef HEAPGAUGE_EXAMPLES_DEMO_SERVICE_TEMPLATE_ENGINE_H_
#define HEAPGAUGE_EXAMPLES_DEMO_SERVICE_TEMPLATE_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "examples/demo_service/template_plugin.h"

namespace demo {

class TemplateEngine {
 public:
  // Loads libdemo_templates.so; returns what went wrong, or an empty text.
  std::string Load();

  size_t Render(uint64_t page, uint64_t user) const { return render_(page, user); }
  TemplatePluginUsage usage() const { return usage_(); }

 private:
  decltype(&RenderTemplate) render_ = nullptr;
  decltype(&GetTemplatePluginUsage) usage_ = nullptr;
};

}  // namespace demo

#endif  // HEAPGAUGE_EXAMPLES_DEMO_SERVICE_TEMPLATE_ENGINE_H_

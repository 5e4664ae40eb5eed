// The interface between the service and its template plugin: plain C, looked up with dlsym.
#ifndef HEAPGAUGE_EXAMPLES_DEMO_SERVICE_TEMPLATE_PLUGIN_H_
#define HEAPGAUGE_EXAMPLES_DEMO_SERVICE_TEMPLATE_PLUGIN_H_

#include <cstddef>
#include <cstdint>

extern "C" {

// Bytes the plugin holds and has ever asked for.
struct TemplatePluginUsage {
  uint64_t live;
  uint64_t allocated;
};

// Renders `page` for `user` and returns the length of the result. Thread-safe.
size_t RenderTemplate(uint64_t page, uint64_t user);

TemplatePluginUsage GetTemplatePluginUsage();

}  // extern "C"

#endif  // HEAPGAUGE_EXAMPLES_DEMO_SERVICE_TEMPLATE_PLUGIN_H_

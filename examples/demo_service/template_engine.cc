#include "examples/demo_service/template_engine.h"

#include <dlfcn.h>

namespace demo {

std::string TemplateEngine::Load() {
  void* plugin = dlopen("libdemo_templates.so", RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return dlerror();
  render_ = reinterpret_cast<decltype(render_)>(dlsym(plugin, "RenderTemplate"));
  usage_ = reinterpret_cast<decltype(usage_)>(dlsym(plugin, "GetTemplatePluginUsage"));
  if (render_ == nullptr || usage_ == nullptr) return "the plugin lacks a function";
  return "";
}

}  // namespace demo

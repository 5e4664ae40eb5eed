#include "core/report/draw/graphviz.h"

#include <dlfcn.h>
#include <graphviz/gvc.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace heapgauge {
namespace {

// The functions that are used, by the types of Graphviz's headers.
struct Library {
  decltype(&gvContext) context = nullptr;
  decltype(&gvLayout) layout = nullptr;
  decltype(&gvRender) render = nullptr;
  decltype(&agmemread) read = nullptr;
  decltype(&agattr) attribute = nullptr;
  decltype(&agget) get = nullptr;
  decltype(&agfstnode) first_node = nullptr;
  decltype(&agnxtnode) next_node = nullptr;
  decltype(&agdelnode) delete_node = nullptr;
  decltype(&agnnodes) count_nodes = nullptr;
};

template <typename F>
bool Find(void* library, const char* name, F* function) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  return *function != nullptr;
}

// "" or what is missing.
std::string LoadLibrary(Library* lib) {
  void* handle = nullptr;
  for (const char* name : {"libgvc.so.6", "libgvc.so"}) {
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  }
  if (handle == nullptr) {
    return "Graphviz's library libgvc.so.6 is not there (Debian: apt install libgvc6); "
           "heapgauge dot and flame work without it";
  }
  const bool all =
      Find(handle, "gvContext", &lib->context) && Find(handle, "gvLayout", &lib->layout) &&
      Find(handle, "gvRender", &lib->render) && Find(handle, "agmemread", &lib->read) &&
      Find(handle, "agattr", &lib->attribute) && Find(handle, "agget", &lib->get) &&
      Find(handle, "agfstnode", &lib->first_node) && Find(handle, "agnxtnode", &lib->next_node) &&
      Find(handle, "agdelnode", &lib->delete_node) && Find(handle, "agnnodes", &lib->count_nodes);
  return all ? "" : "libgvc lacks functions of Graphviz 2.42 that are needed";
}

void Set(const Library& lib, Agraph_t* graph, const char* name, const char* value) {
  lib.attribute(graph, AGRAPH, const_cast<char*>(name), const_cast<char*>(value));
}

// Boxes for labels and the legend's cluster are told by their shape: pprof's graphs draw them so.
bool IsLabelBox(const Library& lib, Agnode_t* node) {
  const char* shape = lib.get(node, const_cast<char*>("shape"));
  return shape != nullptr && std::string_view(shape) == "box3d";
}

size_t CutTo(const Library& lib, Agraph_t* graph, size_t most) {
  const auto count = static_cast<size_t>(lib.count_nodes(graph));
  if (most == 0 || count <= most) return 0;
  std::vector<Agnode_t*> others;
  std::vector<Agnode_t*> boxes;
  for (Agnode_t* node = lib.first_node(graph); node != nullptr; node = lib.next_node(graph, node)) {
    (IsLabelBox(lib, node) ? boxes : others).push_back(node);
  }
  // Without the nodes that they belong to, boxes mean nothing: all of them go.
  for (Agnode_t* node : boxes) lib.delete_node(graph, node);
  size_t left_out = boxes.size();
  for (size_t i = most; i < others.size(); ++i, ++left_out) lib.delete_node(graph, others[i]);
  return left_out;
}

}  // namespace

Drawn DrawWithGraphviz(const std::string& dot, const std::string& format, const Effort& effort,
                       FILE* out) {
  Drawn drawn;
  Library lib;
  drawn.error = LoadLibrary(&lib);
  if (!drawn.error.empty()) return drawn;
  GVC_t* context = lib.context();
  if (context == nullptr) {
    drawn.error = "Graphviz could not be started";
    return drawn;
  }
  Agraph_t* graph = lib.read(dot.c_str());
  if (graph == nullptr) {
    drawn.error = "the graph is not in the dot language";
    return drawn;
  }
  drawn.left_out = CutTo(lib, graph, effort.max_nodes);
  if (!effort.careful) {
    Set(lib, graph, "splines", "line");
    Set(lib, graph, "nslimit", "1");
    Set(lib, graph, "nslimit1", "1");
    Set(lib, graph, "mclimit", "0.1");
    Set(lib, graph, "searchsize", "5");
  }
  if (lib.layout(context, graph, "dot") != 0) {
    drawn.error =
        "Graphviz has no plugin for the layout 'dot'; its list of plugins is made by "
        "libgvc6-config-update -c";
    return drawn;
  }
  if (lib.render(context, graph, format.c_str(), out) != 0) {
    drawn.error = "Graphviz has no plugin that writes " + format;
    return drawn;
  }
  drawn.ok = true;
  return drawn;  // the process ends; nothing is freed
}

}  // namespace heapgauge

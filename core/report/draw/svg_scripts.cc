#include "core/report/draw/svg_scripts.h"

namespace heapgauge {
namespace {

// The view is the viewBox: dragging moves it, the wheel scales it around the pointer, a double
// click shows the whole picture again.
constexpr const char* kScript = R"js(<script type="text/ecmascript"><![CDATA[
(function () {
  "use strict";
  var svg = document.documentElement;
  var whole = (svg.getAttribute("viewBox") || "0 0 100 100").split(/[ ,]+/).map(Number);
  var view = whole.slice();
  var held = null;
  function show() { svg.setAttribute("viewBox", view.join(" ")); }
  // From the window's pixels to the picture's units.
  function place(event) {
    var matrix = svg.getScreenCTM().inverse();
    var point = svg.createSVGPoint();
    point.x = event.clientX;
    point.y = event.clientY;
    return point.matrixTransform(matrix);
  }
  svg.addEventListener("mousedown", function (event) {
    if (event.button !== 0) return;
    held = place(event);
    event.preventDefault();
  });
  svg.addEventListener("mousemove", function (event) {
    if (held === null) return;
    var now = place(event);
    view[0] += held.x - now.x;
    view[1] += held.y - now.y;
    show();
  });
  window.addEventListener("mouseup", function () { held = null; });
  svg.addEventListener("wheel", function (event) {
    var at = place(event);
    var factor = Math.pow(1.0015, Math.max(-400, Math.min(400, event.deltaY)));
    if (view[2] * factor > 20 * whole[2] || view[2] * factor < whole[2] / 2000) return;
    view = [at.x - (at.x - view[0]) * factor, at.y - (at.y - view[1]) * factor,
            view[2] * factor, view[3] * factor];
    show();
    event.preventDefault();
  }, { passive: false });
  svg.addEventListener("dblclick", function () { view = whole.slice(); show(); });
})();
]]></script>
)js";

// Sets an attribute of the element whose tag is svg[begin, end).
void SetAttribute(const std::string& name, const std::string& value, size_t begin, size_t* end,
                  std::string* svg) {
  const std::string key = " " + name + "=\"";
  const size_t at = svg->find(key, begin);
  if (at == std::string::npos || at >= *end) return;
  const size_t first = at + key.size();
  const size_t last = svg->find('"', first);
  if (last == std::string::npos || last >= *end) return;
  svg->replace(first, last - first, value);
  *end += value.size();
  *end -= last - first;
}

}  // namespace

std::string WithPanAndZoom(std::string svg) {
  const size_t begin = svg.find("<svg");
  const size_t close = svg.rfind("</svg>");
  if (begin == std::string::npos || close == std::string::npos) return svg;
  size_t end = svg.find('>', begin);
  if (end == std::string::npos || end > close) return svg;
  svg.insert(close, kScript);
  SetAttribute("width", "100%", begin, &end, &svg);
  SetAttribute("height", "100%", begin, &end, &svg);
  return svg;
}

}  // namespace heapgauge

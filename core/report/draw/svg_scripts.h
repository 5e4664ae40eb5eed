// Scripts and styles inside of SVG pictures: those of flame graphs, and pan and zoom.
#pragma once

#include <string>

namespace heapgauge {

// The script and style inside of flame graph files. For flame.cc alone.
//
// Boxes are <g class="f"> with data-l and data-w, left edge and width in millionths of ten of the
// whole, and data-d, the level. A zoom changes what part of the whole is shown; everything is laid
// out again from these numbers.
inline constexpr const char* kFlameStyle = R"css(<style type="text/css"><![CDATA[
text { font: 12px "DejaVu Sans", Verdana, sans-serif; fill: #1b1b1b; }
.f { cursor: pointer; }
.f text { pointer-events: none; }
.f:hover rect { stroke: #111; stroke-width: 1; }
.f.above rect { opacity: 0.45; }
.f.found rect { fill: #b455d6; }
#title { font-size: 15px; font-weight: bold; }
#sum, #details, #matched { fill: #555; }
#details { fill: #111; }
#reset { cursor: pointer; fill: #0a58ca; visibility: hidden; }
input { font: 12px sans-serif; width: 180px; box-sizing: border-box; }
]]></style>
)css";

inline constexpr const char* kFlameScript = R"js(<script type="text/ecmascript"><![CDATA[
(function () {
  "use strict";
  var svg = document.documentElement;
  var whole = 10000000;
  var boxes = Array.prototype.slice.call(document.querySelectorAll(".f")).map(function (g) {
    var title = g.querySelector("title").textContent;
    return { g: g, rect: g.querySelector("rect"), text: g.querySelector("text"),
             left: +g.getAttribute("data-l"), width: +g.getAttribute("data-w"),
             level: +g.getAttribute("data-d"), title: title, name: title.split("\n")[0] };
  });
  var details = document.getElementById("details");
  var matched = document.getElementById("matched");
  var reset = document.getElementById("reset");
  var input = document.getElementById("search");
  var view = { left: 0, width: whole, level: 0 };

  function fit(box, pixels) {
    var room = Math.floor((pixels - 6) / 7);
    if (room < 3) return "";
    return box.name.length <= room ? box.name : box.name.slice(0, room - 1) + "\u2026";
  }

  function layOut() {
    var window_width = svg.clientWidth || window.innerWidth || 1200;
    boxes.forEach(function (box) {
      var above = box.level < view.level && box.left <= view.left &&
                  box.left + box.width >= view.left + view.width;
      var inside = box.level >= view.level && box.left >= view.left &&
                   box.left + box.width <= view.left + view.width;
      var shown = above || inside;
      var left = above ? 0 : (box.left - view.left) / view.width;
      var width = above ? 1 : box.width / view.width;
      var pixels = width * window_width;
      box.g.style.display = shown && pixels >= 0.3 ? "" : "none";
      if (!shown) return;
      box.g.classList.toggle("above", above);
      box.rect.setAttribute("x", 100 * left + "%");
      box.rect.setAttribute("width", 100 * width + "%");
      var text = fit(box, pixels);
      if (box.text === null && text !== "") {
        box.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        box.text.setAttribute("dx", "3");
        box.text.setAttribute("y", +box.rect.getAttribute("y") + 13);
        box.g.appendChild(box.text);
      }
      if (box.text === null) return;
      box.text.setAttribute("x", 100 * left + "%");
      box.text.textContent = text;
    });
    reset.style.visibility = view.width === whole && view.level === 0 ? "hidden" : "visible";
  }

  function zoom(box) {
    view = box ? { left: box.left, width: box.width, level: box.level }
               : { left: 0, width: whole, level: 0 };
    layOut();
  }

  function search(words) {
    var test = null;
    try { test = words === "" ? null : new RegExp(words, "i"); } catch (error) {
      matched.textContent = "not a regular expression";
      return;
    }
    var found = [];
    boxes.forEach(function (box) {
      var hit = test !== null && test.test(box.name);
      box.g.classList.toggle("found", hit);
      if (hit) found.push(box);
    });
    // What is inside of a box that was found counts once.
    var sum = 0, end = -1;
    found.sort(function (a, b) { return a.left - b.left || b.width - a.width; });
    found.forEach(function (box) {
      if (box.left < end) return;
      sum += box.width;
      end = box.left + box.width;
    });
    matched.textContent = test === null ? "" :
        found.length + " boxes, " + (100 * sum / whole).toFixed(1) + "% of the whole";
  }

  boxes.forEach(function (box) {
    box.g.addEventListener("click", function () { zoom(box); });
    box.g.addEventListener("mouseover", function () {
      details.textContent = box.title.split("\n").join("   ");
    });
  });
  svg.addEventListener("mouseleave", function () { details.textContent = ""; });
  reset.addEventListener("click", function () { zoom(null); });
  if (input) {
    input.addEventListener("input", function () { search(input.value); });
    input.addEventListener("keydown", function (event) { event.stopPropagation(); });
  }
  window.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { zoom(null); }
    if (event.key === "/" && input) { input.focus(); event.preventDefault(); }
  });
  window.addEventListener("resize", layOut);
  svg.setAttribute("width", "100%");
  layOut();
})();
]]></script>
)js";

// Makes an SVG picture fill its window, to be dragged with the mouse and zoomed with the wheel.
//
// A pure function. Pictures that are not as Graphviz writes them are returned as they are.
std::string WithPanAndZoom(std::string svg);

}  // namespace heapgauge

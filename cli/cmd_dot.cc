// dot, svg, png, pdf: the call graph, as text for Graphviz and as pictures.

#include <unistd.h>

#include <cstdio>

#include "cli/report_source.h"
#include "core/base/text.h"
#include "core/report/draw/render.h"
#include "core/report/draw/svg_scripts.h"

namespace heapgauge::cli {
namespace {

int Dot(const ReportOptions& options) {
  const auto input = PrepareReport(options, pprof::ReportKind::kDot);
  if (!input) return FailWith(input.error());
  return DeliverBy(options, [&](TextSink* sink) { return pprof::WriteReport(*input, sink); });
}

int Picture(const ReportOptions& options, const std::string& format) {
  if (format != "svg" && options.output.empty() && isatty(STDOUT_FILENO) == 1) {
    return FailWith("a " + format + " is binary; write it to a file with -o heap." + format);
  }
  const auto input = PrepareReport(options, pprof::ReportKind::kDot);
  if (!input) return FailWith(input.error());
  StringSink dot;
  if (const Status written = pprof::WriteReport(*input, &dot); !written) {
    return FailWith(written.error());
  }
  std::vector<std::string> notes;
  auto picture = RenderDot(dot.text(), format, &notes);
  if (!picture) return FailWith(picture.error());
  for (const std::string& note : notes) {
    std::fprintf(stderr, "heapgauge: %s\n", Printable(note).c_str());
  }
  return Deliver(options, format == "svg" ? WithPanAndZoom(*std::move(picture)) : *picture);
}

int Svg(const ReportOptions& options) { return Picture(options, "svg"); }
int Png(const ReportOptions& options) { return Picture(options, "png"); }
int Pdf(const ReportOptions& options) { return Picture(options, "pdf"); }

void Describe(Command sub, Action* action, int (*run)(const ReportOptions&), const char* footer) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(sub, action, run, footer, options);
  AddGraphOptions(sub, options.get());
}

void DescribeDot(Command sub, Action* action) {
  Describe(sub, action, Dot, R"(
Example:
  heapgauge dot 4242 > heap.dot)");
}

void DescribeSvg(Command sub, Action* action) {
  Describe(sub, action, Svg, R"(
Boxes are functions, larger the more they hold themselves; lines are calls, thicker the more goes
through them. Graphviz's library lays it out; the program dot is not needed. In a browser: drag,
wheel, double click for the whole.

Examples:
  heapgauge svg -o heap.svg 4242
  heapgauge svg -n 40 --focus 'Cache::' -o cache.svg server.4242.hg)");
}

void DescribePng(Command sub, Action* action) { Describe(sub, action, Png, ""); }
void DescribePdf(Command sub, Action* action) { Describe(sub, action, Pdf, ""); }

}  // namespace

const CommandEntry kDotCommand = {"dot", "the call graph in Graphviz's language", DescribeDot};
const CommandEntry kSvgCommand = {"svg", "the call graph as a picture to drag and zoom",
                                  DescribeSvg};
const CommandEntry kPngCommand = {"png", "the call graph as PNG", DescribePng};
const CommandEntry kPdfCommand = {"pdf", "the call graph as PDF", DescribePdf};

}  // namespace heapgauge::cli

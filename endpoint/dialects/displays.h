// The pages of dialects (Page), and the forms in which they show a profile, or what changed between
// two: a table, a call graph, a flame graph. All are made here and now, by functions of core; no
// other program is run but Graphviz.
//
// Graphs are laid out by Graphviz in a child process where Limits::may_fork allows it, and plainly
// otherwise. Any thread; pictures are bounded in size whatever the profile is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "endpoint/base/message.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// What all pages have in common: one file of HTML that needs nothing from elsewhere, and headers
// that let the browser run nothing but what we wrote.
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

// What of a profile is shown. From closed lists, never as the client wrote it.
struct DisplayOptions {
  std::string type;         // sample type; "" the profile's own
  bool cumulative = false;  // sort and show figures with all that was called
  bool lines = false;       // by source line
  size_t rows = 50;         // of tables
  size_t width = 120;       // the same
};

Result<std::string> TableText(Profile profile, const DisplayOptions& options);
Result<std::string> GraphDot(Profile profile, const DisplayOptions& options);
Result<std::string> GraphSvg(Profile profile, const DisplayOptions& options, const Limits& limits);
Result<std::string> FlameGraphSvg(Profile profile, const DisplayOptions& options);

// What is new, gone, grown and shrunk, and what of it chance explains. The names say which is
// which.
Result<std::string> ChangesText(const Profile& base, const Profile& view,
                                const std::string& base_name, const std::string& view_name,
                                const DisplayOptions& options);
// `view` minus `base`. `grown` leaves out what shrank: a flame graph has no place for it.
Result<Profile> Difference(const Profile& base, const Profile& view, bool grown);

// /pprof/heap?display=: brpc's short way to a report on its jemalloc heap, in one answer and
// without a page around it. The route of /pprof/heap hands over each request with a `display`.
//
// display=text|svg|flamegraph|stats; extra_options= (ParseExtraOptions); opts= (letters, of stats);
// engine=.
Reply DisplayHeap(const Call& call);

// Of inuse_space, inuse_objects, alloc_space, alloc_objects, cum, lines: any number, separated by
// commas or spaces, with or without leading dashes.
Result<DisplayOptions> ParseExtraOptions(std::string_view text);

}  // namespace heapgauge::endpoint

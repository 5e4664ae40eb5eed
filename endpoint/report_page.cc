#include "endpoint/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/encode.h"
#include "core/base/json.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/report/views/leaks_page.h"
#include "endpoint/api/api.h"
#include "endpoint/api/summary.h"
#include "endpoint/endpoint.h"
#include "endpoint/web/assets.h"

namespace heapgauge::endpoint {
namespace {

// Every pair of so many sources is compared; of more, each with the first.
constexpr size_t kAllPairs = 4;

Headers With(Headers parameters, const Headers& more) {
  parameters.insert(parameters.end(), more.begin(), more.end());
  return parameters;
}

// By rank: what matters most has rank 0, and ranks follow each other in the report.
class List {
 public:
  void Add(size_t rank, std::string resource, Headers parameters, Headers how_much = {}) {
    ranks_[rank].push_back({std::move(resource), std::move(parameters), std::move(how_much)});
  }
  void Flame(size_t rank, const Headers& parameters) {
    Add(rank, "flame", parameters, {{"depth", "250"}, {"width", "4000"}, {"most", "20000"}});
  }
  void Table(size_t rank, const Headers& parameters) {
    Add(rank, "table", parameters, {{"rows", "2000"}, {"both", "1"}});
  }
  void MemoryMap(size_t rank, const Headers& parameters) {
    Add(rank, "memory-map", parameters, {{"cells", "3000"}, {"rows", "400"}});
  }
  std::vector<ReportQuestion> Take() {
    std::vector<ReportQuestion> all;
    for (auto& rank : ranks_) {
      for (ReportQuestion& question : rank) all.push_back(std::move(question));
    }
    return all;
  }

 private:
  std::array<std::vector<ReportQuestion>, 5> ranks_;
};

// Records of a leak check whose details are in the report: those behind suspects, then the largest.
constexpr size_t kMostLeaks = 60;

std::vector<std::string> KeysOfLeaks(api::Opened* opened) {
  std::vector<std::string> keys;
  const auto check = opened->checks().Get();
  if (!check) return keys;  // of this source there is none
  const LeaksSubject subject = (*check)->Subject(nullptr);
  const size_t count = subject.losses->records.size();
  const auto add = [&](size_t record) {
    if (record >= count || keys.size() == kMostLeaks) return;
    std::string key = LeakKey(subject, record);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  };
  for (const leaks::Suspect& suspect : subject.suspects->suspects) {
    if (keys.size() == kMostLeaks / 2) break;
    add(RecordOfSuspect(subject, suspect));
  }
  for (size_t i = count; i-- > 0 && keys.size() < kMostLeaks;) add(i);
  return keys;
}

void AddSource(const api::Source::Facts& facts, const std::vector<api::FigureChoice>& choices,
               const std::vector<std::string>& leak_keys, List* list) {
  const Headers all = {{"source", facts.id}};
  const bool is_trace = facts.kind == api::Source::Kind::kTrace;
  list->Add(0, "summary", all);
  list->Add(0, "timeline", all);
  list->Table(0, all);
  list->Flame(0, all);
  if (is_trace) list->Add(1, "timeline", With(all, {{"stacks", "6"}}));
  if (is_trace) list->Add(1, "timeline", With(all, {{"threads", "8"}}), {{"steps", "400"}});
  if (is_trace) list->Add(1, "lifetimes", all, {{"rows", "200"}});
  list->Add(1, "leaks", all);
  for (const std::string& key : leak_keys)
    list->Add(3, "leaks/record", With(all, {{"record", key}}));
  list->MemoryMap(1, all);
  for (const auto& word : Headers{{"peak", "1"}, {"by", "stack"}, {"by", "thread"}}) {
    if (is_trace) list->MemoryMap(3, With(all, {word}));
  }
  list->Flame(1, With(all, {{"callers", "1"}}));
  list->Table(1, With(all, {{"cumulative", "1"}}));
  for (const api::FigureChoice& choice : choices) {
    if (choice.parameters.empty()) continue;
    const Headers one = With(all, choice.parameters);
    list->Add(2, "summary", one, {{"brief", "1"}});
    list->Flame(2, one);
    list->Table(2, one);
    list->Flame(4, With(one, {{"callers", "1"}}));
    list->Table(4, With(one, {{"cumulative", "1"}}));
  }
  for (const char* granularity : {"lines", "files", "modules"}) {
    list->Table(3, With(all, {{"granularity", granularity}}));
  }
  if (!is_trace) list->Table(3, With(all, {{"sort", "age"}}));
}

}  // namespace

Result<std::vector<ReportQuestion>> ReportQuestions(api::Sources* sources) {
  List list;
  list.Add(0, "sources", {});
  list.Add(1, "snapshots", {});
  std::vector<std::string> ids;
  for (const auto& opened : sources->List()) {
    const api::Source::Facts facts = opened->source().facts();
    api::Filter filter;
    filter.hold = "report";
    HG_ASSIGN(const auto subject, opened->SubjectOf(filter));
    AddSource(facts, api::FigureChoices(facts.kind, *subject), KeysOfLeaks(opened.get()), &list);
    ids.push_back(facts.id);
  }
  for (size_t base = 0; base < ids.size(); ++base) {
    if (base > 0 && ids.size() > kAllPairs) break;
    for (const std::string& id : ids) {
      if (id == ids[base]) continue;
      const Headers pair = {{"source", id}, {"base", ids[base]}};
      list.Add(1, "diff", pair, {{"rows", "2000"}});
      list.Flame(2, pair);
      list.Flame(3, With(pair, {{"callers", "1"}}));
      list.Add(3, "diff", With(pair, {{"cumulative", "1"}}), {{"rows", "2000"}});
    }
  }
  return list.Take();
}

namespace {

class Nobody final : public Processes {
 public:
  std::vector<std::shared_ptr<Process>> List() override { return {}; }
  std::shared_ptr<Process> Find(uint32_t) override { return nullptr; }
};

std::string PercentEncoded(std::string_view text) {
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

bool Knows(std::string_view path, std::string_view parameter) {
  for (const api::Resource* resource : api::AllResources()) {
    if (resource->path != path) continue;
    for (const std::string_view known : resource->parameters) {
      if (known == parameter) return true;
    }
  }
  return false;
}

// The same moment of a process that runs for all of them.
Request RequestOf(const ReportQuestion& question) {
  Request request;
  request.path = "/api/v1/" + question.resource;
  request.query = "hold=report";
  const auto add = [&](const std::string& name, const std::string& value) {
    request.query += "&" + name + "=" + PercentEncoded(value);
  };
  for (const auto& [name, value] : question.parameters) add(name, value);
  for (const auto& [name, value] : question.how_much) {
    if (Knows(request.path.substr(1), name)) add(name, value);
  }
  return request;
}

Result<std::string> Packed(const std::string& text) {
  StringSink bytes;
  GzipSink sink(&bytes);
  HG_TRY(sink.Write(text));
  HG_TRY(sink.Finish());
  return Base64(bytes.text());
}

// JSON that may stand in a script element: nothing in it looks like a tag or ends a line.
std::string InScript(std::string_view json) {
  std::string text;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      text += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (json[i] == '<' || json[i] == '>' || json[i] == '&') {
      text += fmt::format("\\u{:04x}", json[i]);
    } else {
      text += json[i];
    }
  }
  return text;
}

// What an answer that failed says: {"error":"..."}, or plain text.
std::string ReasonOf(std::string_view body) {
  constexpr std::string_view kBegin = "{\"error\":\"";
  if (body.starts_with(kBegin)) {
    body.remove_prefix(kBegin.size());
    body = body.substr(0, body.rfind("\"}"));
  }
  return std::string(body.substr(0, body.find('\n')));
}

std::string InWords(const ReportQuestion& question) {
  std::string text = question.resource;
  for (const auto& [name, value] : question.parameters) {
    text += name == "source" ? " of " + value : " " + name + "=" + value;
  }
  return text;
}

struct Data {
  Json answers = Json::Array();
  size_t count = 0;
  std::vector<std::string> left_out;
  std::vector<std::string> failed;
};

Result<Data> Gather(Endpoint* endpoint, const std::vector<ReportQuestion>& questions,
                    const ReportPageOptions& options) {
  Data data;
  size_t bytes = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    const ReportQuestion& question = questions[i];
    if (options.progress) options.progress(i, questions.size());
    // Once one has no room, smaller ones of less importance still may.
    const Response response = endpoint->Handle(RequestOf(question)).response;
    if (response.status == 500) {
      data.failed.push_back(InWords(question) + ": " + ReasonOf(response.body));
      continue;
    }
    if (response.status != 200) continue;  // such a source does not know it
    HG_ASSIGN(std::string packed, Packed(response.body));
    if (bytes + packed.size() > options.most_bytes) {
      data.left_out.push_back(InWords(question));
      continue;
    }
    bytes += packed.size();
    ++data.count;
    Json parameters = Json::Object();
    for (const auto& [name, value] : question.parameters) parameters[name] = value;
    data.answers.Add({{"resource", question.resource},
                      {"parameters", std::move(parameters)},
                      {"gzip", std::move(packed)}});
  }
  return data;
}

std::vector<std::string> NotesOf(const Data& data, const ReportPageOptions& options) {
  std::vector<std::string> notes = {
      "Everything that is shown is inside of this file. Other moments, ranges and filters, SQL and "
      "processes need the profile itself: " +
          options.command,
      "Tables have at most 2,000 rows; boxes of flame graphs that are narrower than a 4,000th of "
      "the whole, or beyond 20,000 boxes, are not there."};
  constexpr size_t kNamed = 20;
  if (!data.left_out.empty()) {
    std::string note = fmt::format("{} answers had no room in {}:", data.left_out.size(),
                                   FormatBytes(static_cast<double>(options.most_bytes)));
    for (size_t i = 0; i < data.left_out.size() && i < kNamed; ++i) {
      note += (i == 0 ? " " : ", ") + data.left_out[i];
    }
    if (data.left_out.size() > kNamed) note += ", and others";
    notes.push_back(std::move(note));
  }
  for (size_t i = 0; i < data.failed.size() && i < kNamed; ++i) {
    notes.push_back("There is no " + data.failed[i] + ".");
  }
  return notes;
}

struct Parts {
  std::string style;
  std::string script;
  std::string policy;
};

Result<Parts> PartsOfPage() {
  Parts parts;
  std::string_view style_hash;
  std::string_view script_hash;
  for (const WebAsset& asset : WebAssets()) {
    const bool is_style = asset.name == "heapgauge.css";
    if (!is_style && asset.name != "heapgauge.js") continue;
    HG_ASSIGN((is_style ? parts.style : parts.script), Unpacked(asset));
    (is_style ? style_hash : script_hash) = asset.sha256;
  }
  if (parts.style.empty() || parts.script.empty()) {
    return Fail(ErrorCode::kUnsupported,
                "this heapgauge was built without its web UI, because npm could not be had then");
  }
  parts.policy = fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data: blob:; "
      "base-uri 'none'; form-action 'none'",
      script_hash, style_hash);
  return parts;
}

}  // namespace

std::shared_ptr<Processes> NoProcesses() { return std::make_shared<Nobody>(); }

Result<ReportPage> MakeReportPage(std::shared_ptr<api::Sources> sources,
                                  const ReportPageOptions& options) {
  HG_ASSIGN(const Parts parts, PartsOfPage());
  HG_ASSIGN(const auto questions, ReportQuestions(sources.get()));
  Endpoint endpoint(NoProcesses(), std::move(sources), Limits());
  HG_ASSIGN(Data data, Gather(&endpoint, questions, options));
  const Json json = {{"answers", std::move(data.answers)},
                     {"notes", NotesOf(data, options)},
                     {"command", options.command}};
  ReportPage page;
  page.answers = data.count;
  page.left_out = data.left_out.size();
  page.failed = std::move(data.failed);
  page.html = fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="heapgauge">
<link rel="icon" href="data:,">
<title>{}</title>
<style>{}</style>
</head>
<body>
<div id="app"></div>
<noscript>This report needs JavaScript; all of it is in this file.</noscript>
<script type="application/json" id="heapgauge-report">{}</script>
<script type="module">{}</script>
</body>
</html>
)",
      parts.policy, HtmlText(options.title), parts.style, InScript(json.Line()), parts.script);
  return page;
}

}  // namespace heapgauge::endpoint

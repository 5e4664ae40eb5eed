#include "endpoint/report_page.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/base64.h"
#include "core/base/gzip_sink.h"
#include "core/base/html.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "endpoint/api/api.h"
#include "endpoint/endpoint.h"
#include "endpoint/report_questions.h"
#include "endpoint/web/assets.h"

namespace heapgauge::endpoint {
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

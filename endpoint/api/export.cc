// GET api/v1/export: the profile that the filter leaves as a file for other tools, the same bytes
// as the command of that name writes.
//
//   curl -OJ 'http://127.0.0.1:9710/api/v1/export?source=server.hgt&at=peak&format=pprof'

#include "core/base/text.h"
#include "core/fold/sort_choice.h"
#include "core/report/views/exports.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kExportParameters[] = {"format"};

// "server.hgt" and ".pb.gz" make "server.pb.gz". Only letters that mean nothing in a header or a
// file system.
std::string FileName(const std::string& title, std::string_view ending) {
  constexpr size_t kMost = 80;
  std::string name;
  for (const char c : BaseName(title)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || ((c == '.' || c == '-' || c == '_') && !name.empty())) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() == kMost) break;
  }
  for (const std::string_view known : {".hgt", ".hg", ".pb.gz", ".gz", ".txt", ".heap"}) {
    if (name.size() > known.size() && name.ends_with(known)) {
      name.erase(name.size() - known.size());
      break;
    }
  }
  return (name.empty() ? "heap" : name) + std::string(ending);
}

Result<Response> Export(const Call& call) {
  if (call.request.is_cross_site()) {
    return Fail(ErrorCode::kPermission, "a page of another site may not ask for this");
  }
  HG_ASSIGN(const Filter filter, ParseFilter(call.parameters, kExportParameters));
  HG_ASSIGN(const ExportFormat format,
            FindExportFormat(call.Parameter("format").value_or("pprof")));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  const Profile& profile = *looked.subject->profile();
  ExportOptions options;
  options.filter = {filter.focus, filter.ignore};
  HG_ASSIGN(options.sort, ChooseSort(filter.sort, profile));
  options.granularity = GranularityOf(filter.granularity);
  options.names = filter.names == "whole" ? Names::kWhole : Names::kShort;
  options.notes = profile.notes;
  StringSink sink;
  HG_TRY(WriteExport(profile, format, options, &sink));
  const std::string name = FileName(looked.opened->source().facts().title, format.ending);
  return Response{200,
                  {{"Content-Type", std::string(format.media_type)},
                   {"Content-Disposition", "attachment; filename=\"" + name + "\""},
                   {"Cache-Control", "no-cache, max-age=0"},
                   {"X-Content-Type-Options", "nosniff"}},
                  sink.Take()};
}

}  // namespace

std::span<const std::string_view> ExportParameters() { return kExportParameters; }

Reply HandleExport(const Call& call) {
  auto response = Export(call);
  return response ? *std::move(response) : JsonFailure(response.error());
}

}  // namespace heapgauge::endpoint::api

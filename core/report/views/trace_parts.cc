#include "core/report/views/trace_parts.h"

#include <fmt/format.h>

#include "core/base/short_name.h"
#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

using trace::GroupBy;

constexpr const char* kUnknownStack = "(unknown stack)";

std::vector<EntityId> EntitiesOf(const TraceSubject& subject, const std::vector<uint32_t>& shown) {
  std::vector<EntityId> ids;
  if (subject.groups->by() == GroupBy::kThread) return ids;
  for (const uint32_t group : shown) ids.push_back(subject.groups->EntityOf(group));
  return ids;
}

// Names of the frames of a stack, innermost first, from the one that its figures go to on.
std::vector<std::string> FramesOf(const TraceSubject& subject, uint32_t stack, size_t most) {
  std::vector<std::string> names;
  const Profile& profile = subject.stacks->profile;
  if (stack >= subject.stacks->stacks.size()) return names;
  const uint32_t from = subject.groups->FrameOf(stack);
  bool begun = false;
  for (NodeId node = subject.stacks->stacks[stack].leaf; node != kNone && names.size() < most;
       node = profile.nodes[node].parent) {
    const Location& location = profile.locations[profile.nodes[node].location];
    for (uint32_t k = 0; k < location.frame_count && names.size() < most; ++k) {
      begun = begun || location.first_frame + k == from;
      if (!begun) continue;
      names.push_back(profile.functions[profile.frames[location.first_frame + k].function].name);
    }
  }
  return names;
}

std::string ThreadText(const TraceSubject& subject, uint32_t group) {
  const std::vector<trace::Thread>& threads = subject.trace->threads();
  if (group >= threads.size()) return "(unknown thread)";
  const std::string id = std::to_string(threads[group].id);
  return threads[group].name.empty() ? id : id + " " + Printable(threads[group].name);
}

}  // namespace

GroupLabels::GroupLabels(const TraceSubject& subject, const std::vector<uint32_t>& shown,
                         Names names, const Layout& layout)
    : subject_(subject),
      layout_(layout),
      names_(names),
      labels_(subject.stacks->profile, subject.groups->entities(), EntitiesOf(subject, shown),
              names, layout) {}

std::string GroupLabels::operator[](uint32_t group) const {
  switch (subject_.groups->by()) {
    case GroupBy::kThread:
      return ThreadText(subject_, group);
    case GroupBy::kStack: {
      constexpr size_t kShownFrames = 6;
      std::string text;
      ShortNameOptions options;
      options.ellipsis = layout_.ellipsis();
      for (const std::string& name : FramesOf(subject_, group, kShownFrames)) {
        if (!text.empty()) text += " < ";
        text += Printable(names_ == Names::kShort ? ShortName(name, options) : name);
      }
      return text.empty() ? kUnknownStack : text;
    }
    case GroupBy::kFunction:
    case GroupBy::kModule:
      break;
  }
  return labels_[subject_.groups->EntityOf(group)];
}

Json GroupJson(const TraceSubject& subject, uint32_t group) {
  const trace::BlockGroups& groups = *subject.groups;
  if (groups.by() == GroupBy::kThread) {
    const std::vector<trace::Thread>& threads = subject.trace->threads();
    if (group >= threads.size()) return {{"thread", nullptr}};
    return {{"thread", threads[group].id}, {"thread_name", threads[group].name}};
  }
  Json json = EntityJson(subject.stacks->profile, groups.entities(), groups.EntityOf(group));
  if (const uint32_t frame = groups.FrameOf(group);
      frame != kNone && groups.by() != GroupBy::kModule) {
    json["line"] = subject.stacks->profile.frames[frame].line;
  }
  if (groups.by() == GroupBy::kStack) {
    json["stack"] = group;
    json["frames"] = FramesOf(subject, group, Profile::kMaxDepth);
  }
  return json;
}

void AddGroupHeadings(const TraceSubject& subject, Csv* csv) {
  if (subject.groups->by() == GroupBy::kThread) {
    csv->Text("thread").Text("thread_name");
    return;
  }
  if (subject.groups->by() == GroupBy::kStack) csv->Text("stack");
  AddEntityHeadings(csv);
}

void AddGroup(const TraceSubject& subject, uint32_t group, Csv* csv) {
  const trace::BlockGroups& groups = *subject.groups;
  if (groups.by() == GroupBy::kThread) {
    const std::vector<trace::Thread>& threads = subject.trace->threads();
    if (group >= threads.size()) {
      csv->Empty().Empty();
    } else {
      csv->Number(uint64_t{threads[group].id}).Text(threads[group].name);
    }
    return;
  }
  if (groups.by() == GroupBy::kStack) {
    std::string frames;
    for (const std::string& name : FramesOf(subject, group, Profile::kMaxDepth)) {
      frames += (frames.empty() ? "" : ";") + name;
    }
    csv->Text(frames);
  }
  AddEntity(subject.stacks->profile, groups.entities(), groups.EntityOf(group),
            groups.FrameOf(group), csv);
}

std::string FormatLifetime(double nanoseconds) { return FormatValue(nanoseconds, "ns"); }

StyledText HeadingLine(const char* label, const std::string& text) {
  StyledText line;
  return line.AddRight(label, 11, Style::kLabel).Add(text).Add("\n");
}

StyledText TraceHeading(const trace::TraceFile& trace, const std::string& filter,
                        const std::vector<std::string>& notes, const Layout& layout) {
  const RecordingFacts& r = trace.facts().recording;
  const std::string name = Printable(r.name());
  StyledText text(name.empty() ? std::string(BaseName(trace.path())) : name, Style::kTitle);
  if (r.pid != 0) text += fmt::format("  pid {}", r.pid);
  const std::string state = StateText(r);
  if (!state.empty()) text += "  " + state;
  const size_t used = DisplayWidth(text.text()) + 2;
  const std::string command = Printable(r.command());
  if (!command.empty() && command != name && used + 16 <= layout.width) {
    text.Add("  ").Add(CutTo(command, layout.width - used), Style::kDim);
  }
  text += "\n";
  if (!filter.empty()) text += HeadingLine("filter", Printable(filter));
  for (const std::string& note : notes) {
    text.Add("note: ", Style::kWarning).Add(note).Add("\n");
  }
  return text;
}

Json TraceJson(const trace::TraceFile& trace, const std::string& filter,
               const std::vector<std::string>& notes) {
  const trace::Facts& facts = trace.facts();
  Json json = {{"recording", RecordingJson(facts.recording)},
               {"trace",
                {{"file", trace.path()},
                 {"file_bytes", trace.file_bytes()},
                 {"events", trace.events()},
                 {"blocks", trace.blocks()},
                 {"end_ns", trace.end_ns()},
                 {"complete", facts.complete},
                 {"lost_events", facts.lost_events},
                 {"unknown_frees", facts.unknown_frees},
                 {"missed_frees", facts.missed_frees},
                 {"culled_below_ns", facts.culled_below_ns},
                 {"culled_blocks", facts.culled_blocks},
                 {"culled_bytes", facts.culled_bytes}}},
               {"filter", filter}};
  json["notes"] = notes;
  return json;
}

}  // namespace heapgauge

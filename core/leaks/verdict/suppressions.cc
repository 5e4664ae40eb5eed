#include "core/leaks/verdict/suppressions.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "core/base/file.h"
#include "core/base/function_name.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/valgrind_names.h"

namespace heapgauge::leaks {
namespace {

// Each word of a list with commas is one of the `count` that name() knows.
template <typename NameOf>
Result<uint32_t> ParseSet(std::string_view text, uint32_t first, uint32_t count, const char* what,
                          const NameOf& name) {
  const uint32_t all = ((1u << count) - 1) & ~((1u << first) - 1);
  uint32_t set = 0;
  if (text == "all") return all;
  if (text == "none") return set;
  for (const std::string_view word : PiecesOf(text, ',')) {
    uint32_t i = first;
    while (i < count && word != name(i)) ++i;
    if (i == count) {
      std::string known;
      for (uint32_t k = first; k < count; ++k) known += std::string(name(k)) + ", ";
      return Fail(ErrorCode::kInvalidArgument, "'" + Printable(word.substr(0, 40)) + "' is no " +
                                                   what + " (" + known + "all, none)");
    }
    set |= 1u << i;
  }
  return set;
}

}  // namespace

Result<uint32_t> ParseKinds(std::string_view text) {
  return ParseSet(text, 0, kKinds, "kind of leak",
                  [](uint32_t i) { return KindName(static_cast<Kind>(i)); });
}

Result<uint32_t> ParseHeuristics(std::string_view text) {
  return ParseSet(text, 1, kHeuristics, "heuristic",
                  [](uint32_t i) { return HeuristicName(static_cast<Heuristic>(i)); });
}

const char* KindPhrase(Kind kind) {
  switch (kind) {
    case Kind::kDefinite:
      return "definitely lost";
    case Kind::kIndirect:
      return "indirectly lost";
    case Kind::kPossible:
      return "possibly lost";
    case Kind::kReachable:
      break;
  }
  return "still reachable";
}

namespace {

std::string_view TrimLine(std::string_view text) { return Trim(text, " \t\r\f"); }

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  *text = text->substr(prefix.size());
  return true;
}

// Reads the lines of one file into rules.
class Parser {
 public:
  Parser(std::string_view text, const std::string& name, std::vector<SuppressionRule>* rules)
      : text_(text), name_(name), rules_(*rules) {}

  Status Parse() {
    while (Next()) {
      std::string_view line = line_;
      if (line == "{") {
        HG_TRY(ParseEntry());
      } else if (TakePrefix(&line, "leak:")) {
        HG_TRY(AddLsan(TrimLine(line)));
      } else {
        return Wrong("neither '{' (Valgrind) nor 'leak:' (LeakSanitizer)");
      }
    }
    return {};
  }

 private:
  // The next line that says something.
  bool Next() {
    while (at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      line_ = TrimLine(text_.substr(at_, end - at_));
      at_ = end + 1;
      ++number_;
      if (!line_.empty() && line_.front() != '#') return true;
    }
    return false;
  }

  tl::unexpected<Error> Wrong(const std::string& what) const {
    constexpr size_t kQuoted = 60;
    const std::string quoted = Printable(line_.substr(0, kQuoted));
    return Fail(ErrorCode::kCorrupt,
                fmt::format("suppressions '{}': line {}: {}: '{}{}'", name_, number_, what, quoted,
                            line_.size() > kQuoted ? "..." : ""));
  }

  Status Add(SuppressionRule rule) {
    if (rules_.size() >= Suppressions::kMaxRules) {
      return Wrong(fmt::format("more than {} rules", Suppressions::kMaxRules));
    }
    rule.file = name_;
    rules_.push_back(std::move(rule));
    return {};
  }

  Status AddLsan(std::string_view pattern) {
    if (pattern.empty()) return Wrong("no pattern behind 'leak:'");
    if (pattern.size() > Suppressions::kMaxPattern) return Wrong("the pattern is too long");
    SuppressionRule rule;
    rule.name = "leak:" + std::string(pattern);
    rule.line = number_;
    rule.pattern = pattern;
    rule.with_indirect = true;
    // Reachable blocks are no leaks in LeakSanitizer's eyes; no rule is about them.
    rule.kinds = ~(1u << static_cast<uint32_t>(Kind::kReachable));
    return Add(std::move(rule));
  }

  Status ParseEntry() {
    const uint32_t begin = number_;
    SuppressionRule rule;
    rule.line = begin;
    if (!Next() || line_ == "}") return Unfinished(begin, "its name");
    rule.name = line_;
    if (!Next() || line_ == "}") return Unfinished(begin, "a line such as Memcheck:Leak");
    const bool ours = IsAboutLeaks(line_);
    bool first = true;
    for (;; first = false) {
      if (!Next()) return Unfinished(begin, "'}'");
      if (line_ == "}") break;
      if (!ours) continue;
      std::string_view line = line_;
      if (first && TakePrefix(&line, "match-leak-kinds:")) {
        auto kinds = ParseKinds(TrimLine(line));
        if (!kinds) return Wrong(kinds.error().message);
        rule.kinds = *kinds;
        continue;
      }
      HG_TRY(AddFrame(&rule));
    }
    if (!ours) return {};
    if (rule.frames.empty()) return Unfinished(begin, "fun:, obj: or src: lines");
    return Add(std::move(rule));
  }

  // "Memcheck:Leak", "Memcheck,Addrcheck:Leak"
  static bool IsAboutLeaks(std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || TrimLine(line.substr(colon + 1)) != "Leak") return false;
    std::string_view tools = line.substr(0, colon);
    while (!tools.empty()) {
      if (TrimLine(TakeUntil(&tools, ',')) == "Memcheck") return true;
    }
    return false;
  }

  Status AddFrame(SuppressionRule* rule) {
    if (rule->frames.size() >= Suppressions::kMaxFrames) {
      return Wrong(fmt::format("more than {} frames", Suppressions::kMaxFrames));
    }
    if (line_.size() > Suppressions::kMaxPattern) return Wrong("the line is too long");
    std::string_view line = line_;
    SuppressionFrame frame;
    if (line == "...") {
      frame.what = SuppressionFrame::What::kAny;
    } else if (TakePrefix(&line, "fun:")) {
      frame.what = SuppressionFrame::What::kFunction;
    } else if (TakePrefix(&line, "obj:")) {
      frame.what = SuppressionFrame::What::kObject;
    } else if (TakePrefix(&line, "src:")) {
      frame.what = SuppressionFrame::What::kSource;
      const size_t colon = line.rfind(':');
      if (colon != std::string_view::npos) {
        if (const auto number = NumberIn<uint32_t>(line.substr(colon + 1))) {
          frame.line = *number;
          line = line.substr(0, colon);
        }
      }
    } else {
      return Wrong("not fun:, obj:, src: or ...");
    }
    if (frame.what != SuppressionFrame::What::kAny) {
      frame.pattern = TrimLine(line);
      if (frame.pattern.empty()) return Wrong("no pattern behind the colon");
    }
    rule->frames.push_back(std::move(frame));
    return {};
  }

  tl::unexpected<Error> Unfinished(uint32_t begin, const char* what) const {
    return Fail(ErrorCode::kCorrupt, fmt::format("suppressions '{}': the entry at line {} lacks {}",
                                                 name_, begin, what));
  }

  std::string_view text_;
  const std::string& name_;
  std::vector<SuppressionRule>& rules_;
  size_t at_ = 0;
  uint32_t number_ = 0;
  std::string_view line_;
};

}  // namespace

Status Suppressions::AddFile(const std::string& path) {
  auto text = ReadWholeFile(path, kMaxFileBytes + 1);
  if (!text) return Fail(text.error().code, "suppressions: " + text.error().message);
  if (text->size() > kMaxFileBytes) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("suppressions '{}': more than {} MB", path, kMaxFileBytes >> 20));
  }
  return AddText(*text, path);
}

Status Suppressions::AddText(std::string_view text, const std::string& name) {
  return Parser(text, name, &rules_).Parse();
}

std::string GenerateSuppression(const Profile& profile, NodeId leaf, Kind kind) {
  constexpr size_t kFrames = 23;  // Valgrind takes no more, beside that of the allocator
  const std::vector<StackFrame> stack = FramesOf(profile, leaf);
  const size_t end = FramesUpToMain(profile, stack);
  std::string frames;
  size_t count = 0;
  for (size_t i = 0; i < end && count < kFrames; ++i) {
    const Function* function = FunctionOf(profile, stack[i]);
    const Module* module = ModuleOf(profile, stack[i]);
    ++count;
    if (function != nullptr && !function->placeholder) {
      const std::string_view name = SystemName(*function);
      // One frame stands for the function that allocated, whatever that is.
      if (count == 1 && IsAllocator(name)) {
        count = 0;
        continue;
      }
      // What is outside of these has other names there.
      if (PublicName(name) == "clone") break;
      if (IsInlined(profile, stack[i])) {
        // Tools write the arguments of templates in different ways.
        const std::string inlined = InlinedName(*function);
        const size_t arguments =
            inlined.starts_with("operator") ? std::string::npos : inlined.find('<');
        frames += "   fun:" + Printable(inlined.substr(0, arguments)) +
                  (arguments == std::string::npos ? "\n" : "<*\n");
        continue;
      }
      const bool is_below_main = IsBelowMain(name);
      // Valgrind ends a line's text at its end; patterns have no way to quote.
      frames += "   fun:" +
                Printable(is_below_main                ? std::string(kBelowMain)
                          : HasNoLinkerName(*function) ? LocalPattern(*function)
                          : name.starts_with("__")     ? "*" + std::string(PublicName(name))
                                                       : OneOfItsKind(name, '?')) +
                "\n";
      if (is_below_main) break;
    } else if (module != nullptr && !module->path.empty()) {
      frames += "   obj:" + Printable(KernelPath(module->path)) + "\n";
    } else {
      frames += "   obj:*\n";
    }
  }
  if (frames.empty()) return "";
  return std::string("{\n   <insert_a_suppression_name_here>\n   Memcheck:Leak\n") +
         "   match-leak-kinds: " + KindName(kind) + "\n   fun:*\n" + frames + "}\n";
}

std::string GenerateLsanSuppression(const Profile& profile, NodeId leaf) {
  const std::vector<StackFrame> stack = FramesOf(profile, leaf);
  AllocationFrames allocation(profile);
  for (size_t i = allocation.Count(stack); i < stack.size(); ++i) {
    const Function* function = FunctionOf(profile, stack[i]);
    if (function != nullptr && !function->placeholder) {
      return "leak:^" + Printable(WithoutLines(WithoutParameters(function->name), "*")) + "$\n";
    }
    const Module* module = ModuleOf(profile, stack[i]);
    if (module != nullptr && !module->path.empty()) {
      return "leak:^" + Printable(BaseName(module->path)) + "$\n";
    }
  }
  return "";
}

}  // namespace heapgauge::leaks

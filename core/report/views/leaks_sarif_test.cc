// SARIF 2.1.0 is strict: objects have the members that the standard names and no others. What it
// says of the objects that are written here is in kShapes; every report is compared with it.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/leaks/testing/make_check.h"
#include "core/report/views/leaks.h"

namespace heapgauge {
namespace {

using leaks::Kind;
using leaks::testing::CheckMaker;

// Of each object: its members and what they are. "!" must be there; "[x]" a list of x, "[x]u"
// without equal ones; "a|b" one of these words; others are names of objects, or string, integer,
// boolean, uri, bag (any members), strings (members that are all text).
const nlohmann::json& Shapes() {
  static const nlohmann::json shapes = nlohmann::json::parse(R"({
    "log": {"$schema": "uri", "version": "!2.1.0", "runs": "![run]", "properties": "bag"},
    "run": {"tool": "!tool", "invocations": "[invocation]", "results": "[result]",
            "columnKind": "utf16CodeUnits|unicodeCodePoints", "artifacts": "[bag]u",
            "automationDetails": "bag", "properties": "bag"},
    "tool": {"driver": "!component", "extensions": "[component]u", "properties": "bag"},
    "component": {"name": "!string", "fullName": "string", "version": "string",
                  "semanticVersion": "string", "informationUri": "uri", "organization": "string",
                  "shortDescription": "text", "fullDescription": "text", "rules": "[rule]u",
                  "properties": "bag"},
    "rule": {"id": "!string", "name": "string", "shortDescription": "text",
             "fullDescription": "text", "help": "text", "helpUri": "uri",
             "defaultConfiguration": "configuration", "properties": "bag"},
    "configuration": {"enabled": "boolean", "level": "none|note|warning|error",
                      "properties": "bag"},
    "text": {"text": "!string", "markdown": "string", "properties": "bag"},
    "message": {"text": "!string", "markdown": "string", "id": "string", "arguments": "[string]",
                "properties": "bag"},
    "invocation": {"executionSuccessful": "!boolean", "commandLine": "string",
                   "arguments": "[string]", "exitCode": "integer", "processId": "integer",
                   "toolExecutionNotifications": "[notification]", "properties": "bag"},
    "notification": {"message": "!message", "level": "none|note|warning|error",
                     "descriptor": "bag", "properties": "bag"},
    "result": {"ruleId": "string", "ruleIndex": "integer", "level": "none|note|warning|error",
               "kind": "notApplicable|pass|fail|review|open|informational", "message": "!message",
               "locations": "[location]", "stacks": "[stack]u", "partialFingerprints": "strings",
               "fingerprints": "strings", "baselineState": "new|unchanged|updated|absent",
               "suppressions": "[suppression]u", "occurrenceCount": "integer",
               "properties": "bag"},
    "location": {"id": "integer", "physicalLocation": "physical", "logicalLocations": "[logical]u",
                 "message": "message", "properties": "bag"},
    "physical": {"artifactLocation": "!artifact", "region": "region", "properties": "bag"},
    "artifact": {"uri": "uri", "uriBaseId": "string", "index": "integer", "properties": "bag"},
    "region": {"startLine": "integer", "startColumn": "integer", "endLine": "integer",
               "endColumn": "integer", "properties": "bag"},
    "logical": {"name": "string", "index": "integer", "fullyQualifiedName": "string",
                "decoratedName": "string", "parentIndex": "integer", "kind": "string",
                "properties": "bag"},
    "stack": {"message": "message", "frames": "![frame]", "properties": "bag"},
    "frame": {"location": "location", "module": "string", "threadId": "integer",
              "parameters": "[string]", "properties": "bag"},
    "suppression": {"kind": "!inSource|external", "status": "accepted|underReview|rejected",
                    "location": "location", "guid": "string", "justification": "string",
                    "properties": "bag"}
  })");
  return shapes;
}

// Unreserved and reserved characters of RFC 3986, and what is escaped.
bool IsUri(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || !isxdigit(text[i + 1]) || !isxdigit(text[i + 2])) return false;
    } else if (!isalnum(static_cast<unsigned char>(c)) &&
               std::string("-._~:/?#[]@!$&'()*+,;=").find(c) == std::string::npos) {
      return false;
    }
  }
  return !text.empty();
}

void Compare(const nlohmann::json& value, std::string shape, const std::string& where,
             std::vector<std::string>* wrong) {
  const auto expect = [&](bool right, const std::string& what) {
    if (!right) wrong->push_back(where + " " + what + ": " + value.dump().substr(0, 80));
  };
  if (shape.starts_with("!")) shape.erase(0, 1);
  if (shape.starts_with("[")) {
    if (!value.is_array()) return expect(false, "is no list");
    const std::string of = shape.substr(1, shape.find(']') - 1);
    std::set<std::string> seen;
    for (const nlohmann::json& one : value) {
      Compare(one, of, where + "[]", wrong);
      if (!seen.insert(one.dump()).second) expect(!shape.ends_with("u"), "has equal ones");
    }
  } else if (Shapes().contains(shape)) {
    if (!value.is_object()) return expect(false, "is no object");
    const nlohmann::json& members = Shapes()[shape];
    for (const auto& [name, member] : value.items()) {
      if (!members.contains(name)) {
        expect(false, "may not have " + name);
      } else {
        Compare(member, members[name].get<std::string>(), where + "." + name, wrong);
      }
    }
    for (const auto& [name, of] : members.items()) {
      if (of.get<std::string>().starts_with("!")) expect(value.contains(name), "has no " + name);
    }
  } else if (shape == "string") {
    expect(value.is_string(), "is no text");
  } else if (shape == "uri") {
    expect(value.is_string() && IsUri(value.get<std::string>()), "is no URI");
  } else if (shape == "integer") {
    expect(value.is_number_integer(), "is no whole number");
  } else if (shape == "boolean") {
    expect(value.is_boolean(), "is neither true nor false");
  } else if (shape == "bag") {
    expect(value.is_object(), "is no object");
  } else if (shape == "strings") {
    if (!value.is_object()) return expect(false, "is no object");
    for (const auto& [name, member] : value.items()) expect(member.is_string(), "has " + name);
  } else {
    expect(value.is_string() &&
               ("|" + shape + "|").find("|" + value.get<std::string>() + "|") != std::string::npos,
           "is none of " + shape);
  }
}

// What no shape tells.
void CompareNumbers(const nlohmann::json& log, std::vector<std::string>* wrong) {
  for (const nlohmann::json& run : log["runs"]) {
    const nlohmann::json& rules = run["tool"]["driver"]["rules"];
    std::set<std::string> ids;
    for (const nlohmann::json& rule : rules) {
      if (!ids.insert(rule["id"].get<std::string>()).second) wrong->push_back("two rules, one id");
    }
    size_t compared = 0;
    for (const nlohmann::json& result : run["results"]) {
      const size_t index = result["ruleIndex"].get<size_t>();
      if (index >= rules.size() || rules[index]["id"] != result["ruleId"]) {
        wrong->push_back("ruleIndex names another rule");
      }
      compared += result.contains("baselineState") ? 1 : 0;
      for (const nlohmann::json& location : result.value("locations", nlohmann::json::array())) {
        const nlohmann::json& physical =
            location.value("physicalLocation", nlohmann::json::object());
        if (physical.contains("region") && physical["region"]["startLine"] < 1) {
          wrong->push_back("startLine is below 1");
        }
      }
    }
    if (compared != 0 && compared != run["results"].size()) {
      wrong->push_back("some results have a baselineState, others none");
    }
  }
}

std::vector<std::string> Wrong(const std::string& text) {
  const nlohmann::json log = nlohmann::json::parse(text, nullptr, false);
  if (log.is_discarded()) return {"no JSON"};
  std::vector<std::string> wrong;
  Compare(log, "log", "log", &wrong);
  if (wrong.empty()) CompareNumbers(log, &wrong);
  return wrong;
}

const std::vector<std::string> kNothing;

class Sarif : public ::testing::Test {
 protected:
  Sarif() {
    options_.version = "1.2.3";
    options_.show_kinds = ~0u;
  }
  std::string Text(const leaks::Changes* changes = nullptr) {
    const leaks::Check& check = maker_.check();
    losses_ = leaks::MakeLossRecords(check, {leaks::Resolution::kHigh, &suppressions_});
    LeaksSubject subject;
    subject.check = &check;
    subject.losses = &losses_;
    subject.suppressions = &suppressions_;
    leaks::Changes made;
    if (changes != nullptr) {
      made = leaks::CompareChecks(check, losses_, {});
      subject.changes = &made;
    }
    return LeaksSarif(subject, options_);
  }

  CheckMaker maker_;
  leaks::Suppressions suppressions_;
  leaks::LossRecords losses_;
  LeaksOptions options_;
};

TEST_F(Sarif, OfEveryKindIsAsTheStandardSays) {
  const uint32_t head = maker_.Block(maker_.Stack({"Push(int)", "main"}), 48, Kind::kDefinite);
  maker_.Block(maker_.Stack({"Name()", "main"}), 16, Kind::kIndirect, head);
  maker_.Block(maker_.Stack({"Middle()", "main"}), 10, Kind::kPossible);
  maker_.Block(maker_.Stack({"Cache::Insert()", "main"}), 5000, Kind::kReachable);
  ASSERT_TRUE(suppressions_.AddText("leak:Cache\n", "s"));
  EXPECT_EQ(Wrong(Text()), kNothing);
  EXPECT_EQ(nlohmann::json::parse(Text())["runs"][0]["results"].size(), 4u);
  const leaks::Changes compared;
  EXPECT_EQ(Wrong(Text(&compared)), kNothing);
  EXPECT_EQ(nlohmann::json::parse(Text(&compared))["runs"][0]["results"][0]["baselineState"],
            "new");
}

TEST_F(Sarif, OfNothingIsAsTheStandardSays) {
  EXPECT_EQ(Wrong(Text()), kNothing);
  EXPECT_TRUE(nlohmann::json::parse(Text())["runs"][0]["results"].is_array())
      << "no results, not null";
}

TEST_F(Sarif, OfMemoryThatWasNotLookedAtIsNoSuccess) {
  EXPECT_TRUE(nlohmann::json::parse(Text())["runs"][0]["invocations"][0]["executionSuccessful"]);
  maker_.Block(maker_.Stack({"Push(int)", "main"}), 48, Kind::kReachable);
  maker_.check().look = leaks::Look::kNone;
  maker_.check().verdicts.clear();
  maker_.check().notes = {"it was ended by a signal"};
  EXPECT_EQ(Wrong(Text()), kNothing);
  const nlohmann::json run = nlohmann::json::parse(Text())["runs"][0];
  EXPECT_EQ(run["results"].size(), 0u);
  EXPECT_FALSE(run["invocations"][0]["executionSuccessful"]);
  const nlohmann::json& told = run["invocations"][0]["toolExecutionNotifications"];
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0]["message"]["text"],
            "server: memory was not looked at, so no block can be called lost.\nit was ended by a "
            "signal");
}

TEST_F(Sarif, OfSampledBlocksAndOddNamesIsAsTheStandardSays) {
  const LocationId odd =
      maker_.names().Function("f<\"x\">\xff\n", 0, "/src/a b#c%\xc3\xa4.cc", kNone, "_Z1f");
  const LocationId nameless = maker_.names().Function("", 7, "relative/file.cc");
  maker_.Block(maker_.StackAt({odd, nameless}), 100, Kind::kDefinite, leaks::kNoBlock, 40);
  // Called by itself: the frames of one stack are equal.
  const LocationId again = maker_.Function("Again()");
  maker_.Block(maker_.StackAt({again, again, again}), 7, Kind::kDefinite, leaks::kNoBlock, 40);
  maker_.check().known.exact = false;
  EXPECT_EQ(Wrong(Text()), kNothing);
}

TEST_F(Sarif, OfAnUnknownStackIsAsTheStandardSays) {
  maker_.check();
  const uint32_t stack = maker_.Stack({"Known()"});
  maker_.Block(stack, 8, Kind::kDefinite);
  leaks::Check& check = maker_.check();
  check.known.stacks[stack].leaf = kNone;
  EXPECT_EQ(Wrong(Text()), kNothing);
}

TEST_F(Sarif, TheComparisonNoticesWhatIsWrong) {
  maker_.Block(maker_.Stack({"Push(int)", "main"}), 48, Kind::kDefinite);
  const nlohmann::json right = nlohmann::json::parse(Text());
  const auto changed = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json log = right;
    log[nlohmann::json::json_pointer(pointer)] = value;
    return Wrong(log.dump()).size();
  };
  EXPECT_EQ(changed("/version", "2.1.0"), 0u);
  EXPECT_EQ(changed("/version", "2.0.0"), 1u);
  EXPECT_EQ(changed("/more", 1), 1u);
  EXPECT_EQ(changed("/runs/0/results/0/level", "fatal"), 1u);
  EXPECT_EQ(changed("/runs/0/results/0/ruleIndex", 3), 1u);
  EXPECT_EQ(changed("/runs/0/results/0/message", "text"), 1u);
  EXPECT_EQ(changed("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "a b"),
            1u);
  EXPECT_EQ(changed("/runs/0/results/0/partialFingerprints/x", 1), 1u);
  nlohmann::json log = right;
  log["runs"][0]["tool"]["driver"].erase("name");
  EXPECT_EQ(Wrong(log.dump()).size(), 1u);
}

}  // namespace
}  // namespace heapgauge

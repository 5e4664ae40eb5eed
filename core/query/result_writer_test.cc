#include "core/query/result_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heapgauge::query {
namespace {

Value Number(int64_t number) {
  Value value;
  value.kind = Value::Kind::kInteger;
  value.integer = number;
  return value;
}
Value Real(double number) {
  Value value;
  value.kind = Value::Kind::kReal;
  value.real = number;
  return value;
}
Value Text(std::string_view text, Value::Kind kind = Value::Kind::kText) {
  Value value;
  value.kind = kind;
  value.text = text;
  return value;
}

using Rows = std::vector<std::vector<Value>>;

std::string Write(const ResultOptions& options, const std::vector<std::string>& columns,
                  const Rows& rows, bool* cut = nullptr, int times = 1) {
  StringSink sink;
  const auto writer = MakeResultWriter(options, &sink);
  for (int i = 0; i < times; ++i) {
    EXPECT_TRUE(writer->Begin(columns));
    for (const auto& row : rows) {
      const auto more = writer->Row(row);
      if (!more || !*more) break;
    }
    EXPECT_TRUE(writer->End());
  }
  EXPECT_TRUE(writer->Finish());
  if (cut != nullptr) *cut = writer->cut();
  return sink.text();
}

const Rows kRows = {{Text("f"), Number(5), Text("1.5 kB"), Real(0.25)},
                    {Text("longer"), Number(12345), Text("12 B"), Value()}};
const std::vector<std::string> kNames = {"function", "n", "size", "x"};

TEST(ResultJson, SeveralResultsAreOneArray) {
  ResultOptions options;
  options.form = ResultForm::kJson;
  EXPECT_EQ(Write(options, {"a"}, {{Number(1)}}), "[\n{\"a\":1}\n]\n");
  options.several = true;
  EXPECT_EQ(Write(options, {"a"}, {{Number(1)}}, nullptr, 2),
            "[\n[\n{\"a\":1}\n],\n[\n{\"a\":1}\n]\n]\n");
  EXPECT_EQ(Write(options, {"a"}, {}, nullptr, 1), "[\n[]\n]\n");
  EXPECT_EQ(Write(options, {"a"}, {}, nullptr, 0), "") << "what fails at once has no result";
}

TEST(ResultCsv, KeepsTextAsItIs) {
  ResultOptions options;
  options.form = ResultForm::kCsv;
  options.header = false;
  EXPECT_EQ(Write(options, {"a", "b", "c", "d"},
                  {{Text("x\ny"), Text("x\r"), Text("\"q\", \033[1m"), Text("\t\xff")}}),
            "\"x\ny\",\"x\r\",\"\"\"q\"\", \033[1m\",\t\xff\n");
}

TEST(ResultTable, AlignsNumbersToTheRight) {
  EXPECT_EQ(Write({}, kNames, kRows),
            "function      n    size     x\n"
            "f             5  1.5 kB  0.25\n"
            "longer    12345    12 B     -\n");
  ResultOptions options;
  options.header = false;
  EXPECT_EQ(Write(options, {"a"}, {{Text("x\ny\033[1m")}}), "x?y?[1m\n");
}

TEST(ResultTable, FitsIntoItsWidth) {
  ResultOptions options;
  options.width = 30;
  const std::string text =
      Write(options, {"a", "b", "n"},
            {{Text(std::string(50, 'x')), Text(std::string(40, 'y')), Number(123456)}});
  EXPECT_EQ(text,
            "a           b                n\n"
            "xxxxxxxxx…  yyyyyyyyy…  123456\n")
      << text;
  options.utf8 = false;
  EXPECT_NE(Write(options, {"a"}, {{Text(std::string(50, 'x'))}}).find("..."), std::string::npos);
  // More columns than there is room for are shown all the same.
  Rows wide(1);
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) {
    wide[0].push_back(Text("some text of a length"));
    names.emplace_back("name");
  }
  EXPECT_FALSE(Write(options, names, wide).empty());
}

TEST(ResultTable, GoesOnWithRowsBeyondThoseItLookedAt) {
  Rows rows(6000, {Number(1)});
  rows.push_back({Number(1234567)});
  const std::string text = Write({}, {"n"}, rows);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6002);
  EXPECT_TRUE(text.ends_with("1\n1234567\n"));
}

TEST(ResultWriter, Csv) {
  ResultOptions options;
  options.form = ResultForm::kCsv;
  EXPECT_EQ(Write(options, kNames, kRows),
            "function,n,size,x\nf,5,1.5 kB,0.25\nlonger,12345,12 B,\n");
  options.header = false;
  EXPECT_EQ(Write(options, {"a"}, {{Text("a,\"b\"")}}), "\"a,\"\"b\"\"\"\n");
}

TEST(ResultWriter, Json) {
  ResultOptions options;
  options.form = ResultForm::kJson;
  const auto json = nlohmann::json::parse(Write(options, kNames, kRows));
  EXPECT_EQ(json, nlohmann::json::parse(R"([{"function":"f","n":5,"size":"1.5 kB","x":0.25},
      {"function":"longer","n":12345,"size":"12 B","x":null}])"));
  EXPECT_TRUE(json[0]["n"].is_number_integer());
  EXPECT_EQ(Write(options, {"a"}, {}), "[]\n");
  EXPECT_EQ(nlohmann::json::parse(Write(options, {"a", "a"}, {{Number(1), Number(2)}}))[0],
            nlohmann::json::parse(R"({"a":1,"a_2":2})"));
  EXPECT_EQ(nlohmann::json::parse(
                Write(options, {"a"}, {{Text("\x01\xff", Value::Kind::kBytes)}}))[0]["a"],
            "01ff");
  EXPECT_EQ(nlohmann::json::parse(Write(options, {"a"}, {{Number(INT64_MIN)}}))[0]["a"], INT64_MIN);
}

TEST(ResultWriter, StopsAtItsLimit) {
  for (const ResultForm form : {ResultForm::kTable, ResultForm::kCsv, ResultForm::kJson}) {
    ResultOptions options;
    options.form = form;
    options.limit = 2;
    bool cut = false;
    const std::string text = Write(options, {"n"}, {{Number(1)}, {Number(2)}, {Number(3)}}, &cut);
    EXPECT_TRUE(cut);
    EXPECT_EQ(text.find('3'), std::string::npos);
    Write(options, {"n"}, {{Number(1)}, {Number(2)}}, &cut, 2);
    EXPECT_FALSE(cut) << "each result has its own";
  }
}

}  // namespace
}  // namespace heapgauge::query

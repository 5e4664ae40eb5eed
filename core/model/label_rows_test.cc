#include "core/model/label_sets.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

std::string LabelsText(const Profile& profile, RowId row) {
  std::string text;
  for (const Label& label : profile.LabelsOf(row)) {
    text += profile.strings[label.key] + "=" +
            (label.is_number() ? std::to_string(label.number) : profile.strings[label.text]) + " ";
  }
  return text;
}

TEST(LabelRowsTest, EveryRowGetsTheLabelInItsPlace) {
  Profile profile;
  profile.strings = {"bytes", "thread", "main", "a", "x", "pprof::base", "old"};
  const auto text = [](StringId key, StringId value) {
    Label label;
    label.key = key;
    label.text = value;
    return label;
  };
  Label number;
  number.key = 0;
  number.number = 64;
  profile.labels = {text(3, 4), text(1, 2), number, text(5, 6)};
  profile.label_sets = {{0, 3}, {3, 1}};
  profile.rows.resize(3);
  profile.rows[0].labels = 0;
  profile.rows[1].labels = 1;
  LabelAllRows("pprof::base", "true", &profile);
  EXPECT_EQ(LabelsText(profile, 0), "a=x pprof::base=true thread=main bytes=64 ");
  EXPECT_EQ(LabelsText(profile, 1), "pprof::base=true ");
  EXPECT_EQ(LabelsText(profile, 2), "pprof::base=true ");
  EXPECT_TRUE(profile.Check());
}

}  // namespace
}  // namespace heapgauge

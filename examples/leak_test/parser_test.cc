// A suite that fails by its leaks under `heapgauge run --leaks`, and passes anywhere else.
//
//   $ heapgauge run --leaks --quiet -- leak_test
#include <gtest/gtest.h>
#include <heapgauge/gtest_leak_listener.h>
#include <heapgauge/leak_check.h>

#include <cctype>
#include <string>

namespace {

struct Node {
  std::string word;
  Node* next = nullptr;
};

// The words of a text, the last one first.
Node* Parse(const std::string& text) {
  Node* list = nullptr;
  for (size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) == 0) ++end;
    list = new Node{text.substr(i, end - i), list};
    i = end;
  }
  return list;
}

void Free(Node* list) {
  while (list != nullptr) {
    Node* const next = list->next;
    delete list;
    list = next;
  }
}

TEST(Parser, TakesTheWordsApart) {
  Node* const list = Parse("to be or not to be");
  EXPECT_EQ(list->word, "be");
  Free(list);
}

// The list is given up at the first word: the listener tells, with the stacks.
TEST(Parser, GivesUpAtTheFirstWord) {
  Node* list = Parse("a list of words that nobody frees");
  EXPECT_EQ(list->word, "frees");
  list = nullptr;
}

// The same by hand.
TEST(Parser, LeavesNothingBehind) {
  const heapgauge::LeakCheck check;
  Free(Parse("one two three"));
  const heapgauge::LeakCheck::Result found = check.Look();
  EXPECT_FALSE(found.still_live()) << found.report;
  if (!found.checked) GTEST_SKIP() << found.why_not;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  heapgauge::FailTestsThatLeak();
  return RUN_ALL_TESTS();
}

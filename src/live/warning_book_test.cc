#include "live/warning_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::shared_ptr<const WarningBook::Warnings> WarningsOf(const std::vector<std::string>& messages) {
  WarningBook::Warnings warnings;
  for (const std::string& message : messages) warnings.push_back({"Node n", "Reason", message});
  return std::make_shared<const WarningBook::Warnings>(std::move(warnings));
}

std::vector<std::string> NewOf(WarningBook& book, const std::vector<std::string>& messages) {
  std::vector<std::string> fresh;
  for (const auto& warning : book.TakeNew(WarningsOf(messages))) fresh.push_back(warning.message);
  return fresh;
}

TEST(WarningBook, TellsEachWarningOnceWhileItStays) {
  WarningBook book;
  EXPECT_THAT(book.TakeNew(nullptr), IsEmpty());
  EXPECT_THAT(NewOf(book, {"a", "b"}), ElementsAre("a", "b"));
  EXPECT_THAT(NewOf(book, {"a", "b", "c"}), ElementsAre("c"));
  EXPECT_THAT(NewOf(book, {"b"}), IsEmpty());
  EXPECT_THAT(NewOf(book, {"a", "b"}), ElementsAre("a")) << "it was away";
}

}  // namespace
}  // namespace strata::live

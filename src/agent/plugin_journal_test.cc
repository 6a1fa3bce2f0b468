#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/journal.h"
#include "agent/journal_file.h"
#include "tests/support/temporary_folder.h"

namespace strata::agent {
namespace {

JournalEntry EntryOf(const std::string& uid, const std::string& container) {
  return {.uid = uid,
          .ns = "ns",
          .pod = "pod-" + uid,
          .container = container,
          .uuids = {"GPU-a", "GPU-b"},
          .ids = {"GPU-a-0", "GPU-b-1"},
          .served = Time(Duration(1234))};
}

TEST(PluginJournal, ReadsWhatItWrote) {
  Journal journal;
  journal.Put(EntryOf("u1", "main"));
  journal.Put(EntryOf("u2", "main"));
  const ReadJournal read = ParseJournal(FormatJournal(journal));
  EXPECT_EQ(read.journal, journal);
  EXPECT_EQ(read.bad_lines, 0U);
}

TEST(PluginJournal, LaterEntryOfAContainerCounts) {
  JournalEntry later = EntryOf("u1", "main");
  later.ids = {"GPU-c-0"};
  const ReadJournal read = ParseJournal(FormatEntry(EntryOf("u1", "main")) + FormatEntry(later));
  EXPECT_EQ(*read.journal.Find("u1", "main"), later);
}

TEST(PluginJournal, SurvivesATornLastLineAndLinesThatAreNotEntries) {
  const std::string good = FormatEntry(EntryOf("u1", "main"));
  const std::string next = FormatEntry(EntryOf("u2", "main"));
  for (std::size_t cut = 0; cut < next.size(); ++cut) {
    const ReadJournal read = ParseJournal(good + next.substr(0, cut));
    EXPECT_EQ(read.good_bytes, good.size());
    EXPECT_EQ(read.journal.entries().size(), 1U);
  }
  EXPECT_EQ(ParseJournal("rubbish\n\n" + good + "{}\n").bad_lines, 3U);
}

TEST(PluginJournal, DropsPodsThatAreGone) {
  Journal journal;
  journal.Put(EntryOf("u1", "main"));
  journal.Put(EntryOf("u2", "main"));
  EXPECT_EQ(journal.KeepOnly({"u2"}), 1U);
  EXPECT_EQ(journal.Find("u1", "main"), nullptr);
}

class PluginJournalFile : public ::testing::Test {
 protected:
  std::unique_ptr<JournalFile> Open() const {
    auto file = JournalFile::Open(path());
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return file ? std::move(*file) : nullptr;
  }
  [[nodiscard]] std::string path() const { return folder_ + "/journal"; }
  [[nodiscard]] std::string Text() const {
    std::ifstream in(path());
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const strata::testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(PluginJournalFile, KeepsEntriesOverARestart) {
  {
    const auto file = Open();
    EXPECT_TRUE(file->incomplete());  // there was none
    ASSERT_TRUE(file->Append(EntryOf("u1", "main")).has_value());
    EXPECT_EQ(Text(), FormatEntry(EntryOf("u1", "main")));
  }
  {
    const auto file = Open();
    EXPECT_TRUE(file->incomplete()) << "nobody has rebuilt it yet";
    EXPECT_NE(file->journal().Find("u1", "main"), nullptr);
    file->MarkComplete();
  }
  EXPECT_FALSE(Open()->incomplete());
}

TEST_F(PluginJournalFile, AppendsBehindTheLastWholeLineAfterACrash) {
  const std::string first = FormatEntry(EntryOf("u1", "main"));
  std::ofstream(path()) << first << "{\"uid\":\"u2\",\"cont";
  const auto file = Open();
  ASSERT_TRUE(file->Append(EntryOf("u3", "main")).has_value());
  EXPECT_EQ(Text(), first + FormatEntry(EntryOf("u3", "main")));
}

TEST_F(PluginJournalFile, IsReplacedAsAWhole) {
  const auto file = Open();
  ASSERT_TRUE(file->Append(EntryOf("u1", "main")).has_value());
  Journal journal;
  journal.Put(EntryOf("u2", "main"));
  ASSERT_TRUE(file->Replace(journal).has_value());
  ASSERT_TRUE(file->Append(EntryOf("u3", "main")).has_value());
  EXPECT_EQ(ParseJournal(Text()).journal, file->journal());
  EXPECT_EQ(file->journal().entries().size(), 2U);
}

TEST_F(PluginJournalFile, BelongsToOneProcess) {
  const auto file = Open();
  const auto second = JournalFile::Open(path());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::kConflict);
}

}  // namespace
}  // namespace strata::agent

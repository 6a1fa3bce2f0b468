#include "store/disk_space.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/journal.h"
#include "tests/support/small_disk.h"

namespace strata::store {
namespace {

using strata::testing::SmallDisk;
using ::testing::StartsWith;

constexpr std::int64_t kDiskBytes = 26 << 20;

// A journal on a disk of 26 MiB.
class FullDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.is_there()) GTEST_SKIP() << "needs a mount namespace (unshare)";
    Open();
  }

  void Open() {
    journal_.reset();
    Result<std::unique_ptr<Journal>> opened = OpenJournal(folder_);
    ASSERT_TRUE(opened) << opened.error().message;
    journal_ = std::move(*opened);
  }

  Status Put(const std::string& name, const std::string& body) { return PutAll({name}, body); }

  Status PutAll(const std::vector<std::string>& names, const std::string& body) {
    std::vector<Write> writes;
    writes.reserve(names.size());
    for (const std::string& name : names) writes.push_back({.row = RowOf(name, body)});
    return journal_->Commit(writes, version_);
  }

  Status Delete(const std::vector<std::string>& names) {
    std::vector<Write> writes;
    writes.reserve(names.size());
    for (const std::string& name : names) {
      writes.push_back({.kind = Write::Kind::kDelete,
                        .space = Write::Space::kGivesBack,
                        .row = RowOf(name, "")});
    }
    return journal_->Commit(writes, version_);
  }

  // In batches of a megabyte or of one, or of as many as the API server deletes at once.
  void DeleteAll(const std::vector<std::string>& names) {
    constexpr std::size_t kAtOnce = 64;
    std::vector<std::string> batch;
    for (const std::string& name : names) {
      batch.push_back(name);
      if (batch.size() < std::min(kAtOnce, (1 << 20) / body_bytes_ + 1) && name != names.back())
        continue;
      const Status deleted = Delete(batch);
      ASSERT_TRUE(deleted) << name << ": " << deleted.error().message;
      batch.clear();
    }
  }

  // Writes objects of that size until there is no space for more; their names.
  std::vector<std::string> FillWithObjectsOf(std::size_t bytes) {
    body_bytes_ = bytes;
    std::vector<std::string> names;
    const std::string body(bytes, 'x');
    for (;;) {
      const std::size_t at_once = std::max<std::size_t>(1, 100'000 / bytes);
      std::vector<std::string> batch;
      batch.reserve(at_once);
      for (std::size_t i = 0; i < at_once; ++i) {
        batch.push_back("o" + std::to_string(names.size() + i));
      }
      const Status put = PutAll(batch, body);
      if (!put) {
        EXPECT_TRUE(IsDiskFull(put.error())) << put.error().message;
        return names;
      }
      names.insert(names.end(), batch.begin(), batch.end());
    }
  }

  // Another program takes what is free.
  void TakeTheRest() const {
    std::ofstream file(disk_.path() + "/other");
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
    ASSERT_EQ(disk_.FreeBytes(), 0);
  }

  [[nodiscard]] std::size_t Rows() const {
    std::size_t rows = 0;
    EXPECT_TRUE(journal_->Load([&](const Row&) { ++rows; }));
    return rows;
  }

  [[nodiscard]] Row RowOf(std::string_view name, std::string_view body) {
    return {.resource = "pods", .ns = "ns", .name = name, .version = ++version_, .body = body};
  }

  const SmallDisk disk_{kDiskBytes};
  const std::string folder_ = disk_.path() + "/data";
  std::unique_ptr<Journal> journal_;
  std::int64_t version_ = 0;
  std::size_t body_bytes_ = 1;
};

TEST_F(FullDiskTest, SaysThatTheDiskIsFull) {
  std::vector<std::string> names = FillWithObjectsOf(100'000);
  const Status put = Put("a", std::string(1'000'000, 'x'));
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().message, folder_ + "/strata.db: no space left on device");
  EXPECT_EQ(Rows(), names.size());
}

TEST_F(FullDiskTest, IsClearedByDeletingAndThenWrittenAgain) {
  for (const std::size_t bytes :
       {std::size_t{1'000}, std::size_t{100'000}, std::size_t{3'000'000}}) {
    const std::vector<std::string> names = FillWithObjectsOf(bytes);
    ASSERT_FALSE(names.empty());
    TakeTheRest();
    DeleteAll(names);
    EXPECT_EQ(Rows(), 0U);
    std::filesystem::remove(disk_.path() + "/other");
    EXPECT_GE(FillWithObjectsOf(bytes).size(), names.size() * 9 / 10) << "space is used again";
    Open();
    std::vector<std::string> left;
    EXPECT_TRUE(journal_->Load([&](const Row& row) { left.emplace_back(row.name); }));
    DeleteAll(left);
  }
}

TEST_F(FullDiskTest, SpaceThatWasGivenBackIsWrittenAgain) {
  const std::vector<std::string> names = FillWithObjectsOf(100'000);
  ASSERT_TRUE(Delete({names.begin(), names.begin() + 20}));
  for (int i = 0; i < 15; ++i) EXPECT_TRUE(Put("n" + std::to_string(i), std::string(100'000, 'y')));
}

TEST_F(FullDiskTest, OpensAndIsClearedAfterARestart) {
  const std::vector<std::string> names = FillWithObjectsOf(100'000);
  TakeTheRest();
  Open();
  EXPECT_EQ(Rows(), names.size());
  EXPECT_TRUE(Delete({names.front()}));
}

TEST_F(FullDiskTest, AStepToADeletionUsesTheReserve) {
  const std::vector<std::string> names = FillWithObjectsOf(3'000'000);
  TakeTheRest();
  const std::string marked(3'000'500, 'x');
  const Write write{.space = Write::Space::kGivesBack, .row = RowOf(names.front(), marked)};
  const Status put = journal_->Commit({&write, 1}, version_);
  EXPECT_TRUE(put) << put.error().message;
}

TEST_F(FullDiskTest, TheReserveIsWholeAgainAfterwards) {
  const std::vector<std::string> names = FillWithObjectsOf(100'000);
  TakeTheRest();
  DeleteAll(names);
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/reserve"), Reserve::kBytes);
}

TEST_F(FullDiskTest, ABatchThatAlsoTakesSpaceDoesNotUseTheReserve) {
  const std::vector<std::string> names = FillWithObjectsOf(100'000);
  TakeTheRest();
  const std::string body(2'000'000, 'x');
  const std::vector<Write> batch = {{.kind = Write::Kind::kDelete,
                                     .space = Write::Space::kGivesBack,
                                     .row = RowOf(names.front(), "")},
                                    {.row = RowOf("new", body)}};
  const Status mixed = journal_->Commit(batch, version_);
  ASSERT_FALSE(mixed);
  EXPECT_TRUE(IsDiskFull(mixed.error()));
  EXPECT_EQ(Rows(), names.size()) << "all or nothing";
}

TEST(Reserve, IsNotTakenFromADiskThatIsTooSmall) {
  const SmallDisk disk(Reserve::kBytes / 2);
  if (!disk.is_there()) GTEST_SKIP() << "needs a mount namespace (unshare)";
  const std::int64_t before = disk.FreeBytes();
  Reserve reserve(disk.path() + "/reserve");
  EXPECT_FALSE(reserve.Fill());
  EXPECT_EQ(disk.FreeBytes(), before);
}

TEST(FileSpace, OfAMissingFileIsAnError) {
  const auto space = FileSpace::Of("/tmp/strata-missing/file");
  ASSERT_FALSE(space);
  EXPECT_THAT(space.error().message, StartsWith("/tmp/strata-missing/file: "));
}

}  // namespace
}  // namespace strata::store

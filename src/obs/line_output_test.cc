#include "obs/line_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::obs {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

// A pipe that nobody reads unless Read is called.
class LineOutputTest : public testing::Test {
 protected:
  LineOutputTest() {
    EXPECT_EQ(pipe(ends_), 0);
    EXPECT_EQ(fcntl(ends_[0], F_SETFL, O_NONBLOCK), 0);
  }
  ~LineOutputTest() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  [[nodiscard]] int descriptor() const { return ends_[1]; }
  // What is there.
  [[nodiscard]] std::string Read() const {
    std::string all;
    std::string piece(65536, '\0');
    for (ssize_t got = 0; (got = ::read(ends_[0], piece.data(), piece.size())) > 0;) {
      all.append(piece, 0, static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  int ends_[2] = {};
};

TEST_F(LineOutputTest, WritesALineWithItsEnd) {
  LineOutput output(descriptor());
  output.Write("one");
  output.Write(std::string(10'000, 'x'));
  EXPECT_EQ(Read(), "one\n" + std::string(10'000, 'x') + "\n");
}

TEST_F(LineOutputTest, BlocksNobodyWhenNobodyReads) {
  LineOutput output(descriptor());
  const std::string line(1000, 'x');
  for (int i = 0; i < 200; ++i) output.Write(line);  // a pipe holds 64 KiB
  EXPECT_THAT(Read(), StartsWith(line + "\n"));
  output.Write("again");
  EXPECT_THAT(Read(), EndsWith(" lines dropped: standard error was blocked\nagain\n"));
  output.Write("and again");
  EXPECT_EQ(Read(), "and again\n");
}

TEST_F(LineOutputTest, ALineThatWasCutEndsBeforeTheNext) {
  LineOutput output(descriptor());
  output.Write(std::string(1'000'000, 'x'));  // more than a pipe holds
  const std::string begin = Read();
  EXPECT_EQ(begin, std::string(begin.size(), 'x'));
  output.Write("next");
  EXPECT_EQ(Read(), "\n1 line dropped: standard error was blocked\nnext\n");
}

TEST_F(LineOutputTest, ManyThreadsWaitOnceTogether) {
  LineOutput output(descriptor());
  output.Write(std::string(1'000'000, 'x'));
  std::vector<std::thread> threads;
  for (int i = 0; i < 50; ++i) threads.emplace_back([&] { output.Write("lost"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(Read(), StartsWith("xxx"));
  output.Write("next");
  EXPECT_EQ(Read(), "\n51 lines dropped: standard error was blocked\nnext\n");
}

}  // namespace
}  // namespace strata::obs

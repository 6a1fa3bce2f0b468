#include "os/process.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::os {
namespace {

using ::testing::HasSubstr;
using End = ProcessOutput::End;

constexpr ProcessLimits kPlenty{std::chrono::seconds(60), 1 << 20};

ProcessCommand Shell(std::string script) {
  return {{"sh", "-c", std::move(script)}, {}};
}

TEST(RunProcess, GivesBothStreamsAndTheCode) {
  const auto run = RunProcess(Shell("echo out; echo err >&2; exit 3"), kPlenty);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->out, "out\n");
  EXPECT_EQ(run->err, "err\n");
  EXPECT_EQ(run->exit_code, 3);
  EXPECT_EQ(run->signal, 0);
}

TEST(RunProcess, AddsAndReplacesVariables) {
  ProcessCommand command = Shell("echo \"$STRATA_TEST_A $HOME\"");
  command.environment = {{"STRATA_TEST_A", "x y"}, {"HOME", "/nowhere"}};
  EXPECT_EQ(RunProcess(command, kPlenty)->out, "x y /nowhere\n");
}

TEST(RunProcess, ALimitEndsItWithItsChildren) {
  const auto slow = RunProcess(Shell("sleep 1000 & sleep 1000"), {Duration(30), 100});
  EXPECT_EQ(slow->end, End::kTimedOut);
  const auto loud = RunProcess(Shell("yes"), {std::chrono::seconds(60), 100});
  EXPECT_EQ(loud->end, End::kOutputLimit);
  EXPECT_EQ(RunProcess(Shell("kill -9 $$"), kPlenty)->signal, 9);
}

TEST(RunProcess, ADaemonThatKeepsTheStreamsDoesNotHoldItUp) {
  const auto near = RunProcess(Shell("sleep 1000 & echo done"), kPlenty);
  EXPECT_EQ(near->end, End::kExited);
  EXPECT_EQ(near->out, "done\n");
  const auto far = RunProcess(Shell("setsid sleep 5 & echo done"), kPlenty);
  EXPECT_EQ(far->end, End::kExited);
  EXPECT_EQ(far->out, "done\n");
}

TEST(RunProcess, ReadsAllOutputBeforeItEnds) {
  const auto run = RunProcess(Shell("head -c 1000000 /dev/zero"), kPlenty);
  EXPECT_EQ(run->out.size(), 1'000'000U);
}

TEST(RunProcess, AnInterruptEndsIt) {
  Interrupt interrupt;
  std::thread other([&] { interrupt.Fire(); });
  EXPECT_EQ(RunProcess(Shell("sleep 1000"), kPlenty, &interrupt)->end, End::kInterrupted);
  other.join();
  EXPECT_EQ(RunProcess(Shell("sleep 1000"), kPlenty, &interrupt)->end, End::kInterrupted);
}

TEST(RunProcess, AProgramThatIsNotThereIsAnError) {
  const auto run = RunProcess({{"/no/such/program"}, {}}, kPlenty);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::kNotFound);
  EXPECT_THAT(run.error().message, HasSubstr("/no/such/program: cannot be run"));
}

}  // namespace
}  // namespace strata::os

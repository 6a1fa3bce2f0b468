#include "net/event_loop.h"

#include <csignal>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace strata::net {
namespace {

TEST(EventLoop, RunsWhatIsPostedInOrderFromAnyThread) {
  EventLoop loop;
  std::string order;
  std::thread other([&] {
    loop.Post([&] { order += "a"; });
    loop.Post([&] { order += "b"; });
    loop.Post([&] { loop.Stop(); });
  });
  loop.Run();
  other.join();
  EXPECT_EQ(order, "ab");
}

TEST(EventLoop, FiresTimersInOrderOfTimeAndNotWhenCancelled) {
  EventLoop loop;
  std::string order;
  TimerId never{};
  // Made first, due last. The others are due in the order in which they are made, however slow that
  // is.
  const TimerId late = loop.After(std::chrono::hours(1), [&] { order += "late"; });
  loop.After(Duration(0), [&] { order += "a"; });
  loop.After(Duration(5), [&] {
    order += "b";
    loop.Cancel(never);
    loop.Cancel(never);
  });
  never = loop.After(Duration(10), [&] { order += "never"; });
  loop.After(Duration(20), [&] {
    loop.Cancel(late);
    loop.Stop();
  });
  loop.Run();
  EXPECT_EQ(order, "ab");
}

TEST(EventLoop, AStopBeforeRunEndsItAtOnceAndItCanRunAgain) {
  EventLoop loop;
  bool ran = false;
  loop.Stop();
  loop.Run();
  loop.Post([&] {
    ran = true;
    loop.Stop();
  });
  loop.Run();
  EXPECT_TRUE(ran);
}

TEST(EventLoop, TellsOfSignalsEachTime) {
  EventLoop loop;
  int seen = 0;
  loop.OnSignals({SIGUSR1}, [&] {
    if (++seen == 2) return loop.Stop();
    std::raise(SIGUSR1);
  });
  std::raise(SIGUSR1);
  loop.Run();
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace strata::net

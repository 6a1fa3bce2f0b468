#include "kube/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/test_fake_transport.h"

namespace strata::kube {
namespace {

using std::chrono::seconds;

struct LivenessCase {
  FakeTransport reads;
  FakeTransport writes;
  Client client{reads, writes, {}};
  Liveness liveness{client};
};

TEST(Liveness, AThreadThatWaitsIsNotLate) {
  LivenessCase threads;
  const auto worker = threads.liveness.Add("worker", seconds(60));
  worker->Begin(threads.writes.Now());
  worker->End();
  threads.writes.Advance(seconds(1000));
  EXPECT_EQ(threads.liveness.LateThread(), "");
}

TEST(Liveness, AThreadIsLateWhenOneThingTakesTooLong) {
  LivenessCase threads;
  const auto worker = threads.liveness.Add("worker", seconds(60));
  worker->Begin(threads.writes.Now());
  threads.writes.Advance(seconds(40));
  worker->Begin(threads.writes.Now());
  EXPECT_EQ(threads.liveness.LateThread(), "");
  threads.writes.Advance(seconds(25));
  EXPECT_EQ(threads.liveness.LateThread(), "thread worker has not responded for 65 s");
  worker->End();
  EXPECT_EQ(threads.liveness.LateThread(), "");
}

TEST(Liveness, NoticesAThreadOfTheClientThatRunsNothing) {
  LivenessCase threads;
  EXPECT_EQ(threads.liveness.LateThread(), "");
  threads.writes.Advance(seconds(31));
  EXPECT_EQ(threads.liveness.LateThread(), "thread reads has not responded for 31 s");
  threads.reads.Advance(seconds(31));
  EXPECT_EQ(threads.liveness.LateThread(), "");
}

}  // namespace
}  // namespace strata::kube

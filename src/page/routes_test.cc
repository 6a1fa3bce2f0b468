#include "page/routes.h"

#include <gtest/gtest.h>

namespace strata::page {
namespace {

using Kind = Route::Kind;

TEST(Routes, LeadToDataAndToFiles) {
  EXPECT_EQ(FindRoute("/").kind, Kind::kFile);
  EXPECT_EQ(FindRoute("/page-ab12.js").kind, Kind::kFile);
  EXPECT_EQ(FindRoute("/page/v1/hello").kind, Kind::kHello);
  EXPECT_EQ(FindRoute("/page/v1/cluster").kind, Kind::kCluster);
  EXPECT_EQ(FindRoute("/page/v1/queues").kind, Kind::kQueues);
  EXPECT_EQ(FindRoute("/page/v1/fit").kind, Kind::kFit);
  EXPECT_EQ(FindRoute("/page/v1/nodes/n1").names, (std::vector<std::string>{"n1"}));
}

TEST(Routes, DecodeNames) {
  const Route route = FindRoute("/page/v1/jobs/team%20a/train");
  EXPECT_EQ(route.kind, Kind::kJob);
  EXPECT_EQ(route.names, (std::vector<std::string>{"team a", "train"}));
}

TEST(Routes, LeadNowhereFromAnythingElse) {
  for (const char* path : {"/page/v1/",
                           "/page/v1/nothing",
                           "/page/v1/hello/more",
                           "/page/v1/jobs/only",
                           "/page/v1/nodes/a/b",
                           "/page/v1/nodes/%2e%2e",
                           "/page/v1/nodes/%zz"}) {
    EXPECT_EQ(FindRoute(path).kind, Kind::kUnknown) << path;
  }
}

TEST(Routes, ReadWhereTheStreamBegins) {
  const auto start = ReadStreamStart("after=12&epoch=3");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->revision, 12);
  EXPECT_EQ(start->epoch, 3);
  EXPECT_EQ(ReadStreamStart("after=12").error().message, "epoch: want a whole number, not \"\"");
  EXPECT_EQ(ReadStreamStart("after=x&epoch=3").error().message,
            "after: want a whole number, not \"x\"");
  EXPECT_FALSE(ReadStreamStart("after=%"));
}

TEST(Routes, ReadAShape) {
  EXPECT_EQ(*ReadShape("pod=cpu=8,nvidia.com/gpu=8"), "cpu=8,nvidia.com/gpu=8");
  EXPECT_EQ(*ReadShape("pod=cpu%3D8"), "cpu=8");
  EXPECT_EQ(*ReadShape(""), "");
}

}  // namespace
}  // namespace strata::page

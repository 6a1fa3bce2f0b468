#include "controllers/apply.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/test_prompt_transport.h"

namespace strata::controllers {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Plan CreatesPods(int count) {
  Plan plan;
  plan.steps.emplace_back();
  for (int i = 0; i < count; ++i) {
    Write write;
    write.verb = Write::Verb::kCreate;
    write.resource = kube::kPods;
    write.ns = "ns";
    write.name = "p" + std::to_string(i);
    write.body = "{}";
    plan.steps.back().push_back(std::move(write));
  }
  return plan;
}

TEST(Apply, CreatesNoMorePodsOnceTheLeaseIsLost) {
  PromptTransport transport;
  kube::Client client(transport, transport, {});
  const auto leadership = kube::Leadership::Always();
  transport.answer = [&](const auto&) {
    if (transport.sent.size() == 3) leadership->Revoke();
    return 201;
  };
  const Applied applied = Apply(client, CreatesPods(500), leadership);
  EXPECT_THAT(transport.sent, SizeIs(3));
  EXPECT_EQ(applied.writes, 3U);
  ASSERT_FALSE(applied.outcome);
  EXPECT_THAT(applied.outcome.error().message, HasSubstr("not the leader any more"));
}

TEST(Apply, SendsAStepWhenEveryWriteOfTheOneBeforeHasSucceeded) {
  PromptTransport transport;
  kube::Client client(transport, transport, {});
  Plan plan = CreatesPods(200);
  plan.steps.push_back(CreatesPods(1).steps[0]);
  plan.steps.push_back(CreatesPods(1).steps[0]);
  transport.answer = [&](const auto&) { return transport.sent.size() == 201 ? 422 : 201; };
  const Applied applied = Apply(client, plan, kube::Leadership::Always());
  EXPECT_THAT(transport.sent, SizeIs(201)) << "the third step is not sent";
  EXPECT_EQ(applied.writes, 200U);
  EXPECT_FALSE(applied.outcome);
}

TEST(Apply, NamesTheFirstRefusalByNameWhicheverAnswerIsFirst) {
  PromptTransport transport;
  kube::Client client(transport, transport, {});
  Plan plan = CreatesPods(2);
  std::swap(plan.steps[0][0], plan.steps[0][1]);
  transport.answer = [](const auto&) { return 403; };
  transport.body = [](const auto&) { return R"({"kind":"Status","message":"no PriorityClass"})"; };
  const Applied applied = Apply(client, plan, kube::Leadership::Always());
  EXPECT_THAT(applied.refusal, HasSubstr("create pods ns/p0: "));
  EXPECT_THAT(applied.refusal, HasSubstr("no PriorityClass"));
}

TEST(Apply, AConflictIsNoRefusal) {
  PromptTransport transport;
  kube::Client client(transport, transport, {});
  Plan plan = CreatesPods(1);
  plan.steps[0][0].verb = Write::Verb::kReplace;
  transport.answer = [](const auto&) { return 409; };
  const Applied applied = Apply(client, plan, kube::Leadership::Always());
  EXPECT_FALSE(applied.outcome);
  EXPECT_EQ(applied.refusal, "");
}

TEST(Apply, ADeletionIsDoneWhenTheObjectIsGoneAndNotByAConflict) {
  PromptTransport transport;
  kube::Client client(transport, transport, {});
  Plan plan = CreatesPods(1);
  plan.steps[0][0].verb = Write::Verb::kDelete;
  plan.steps[0][0].uid = "u";
  transport.answer = [](const auto&) { return 404; };
  EXPECT_TRUE(Apply(client, plan, kube::Leadership::Always()).outcome);
  transport.answer = [](const auto&) { return 409; };
  EXPECT_FALSE(Apply(client, plan, kube::Leadership::Always()).outcome);
}

TEST(Apply, TakesAnObjectThatItsOwnerHasAlready) {
  PromptTransport transport;
  kube::Client client(transport, transport, {});
  Plan plan = CreatesPods(1);
  plan.steps[0][0].uid = "job";
  std::string owner = "job";
  transport.answer = [](const net::HttpRequest& request) {
    return request.method == "GET" ? 200 : 409;
  };
  transport.body = [&](const net::HttpRequest& request) {
    return request.method == "GET"
               ? R"({"metadata":{"name":"p0","ownerReferences":[{"uid":")" + owner + R"("}]}})"
               : std::string(R"({"kind":"Status","reason":"AlreadyExists","code":409})");
  };
  EXPECT_TRUE(Apply(client, plan, kube::Leadership::Always()).outcome);
  owner = "another";
  EXPECT_FALSE(Apply(client, plan, kube::Leadership::Always()).outcome);
}

TEST(Apply, HasNothingToWaitForInAnEmptyPlan) {
  PromptTransport transport;
  kube::Client client(transport, transport, {});
  EXPECT_TRUE(Apply(client, {}, kube::Leadership::Always()).outcome);
  EXPECT_THAT(transport.sent, SizeIs(0));
}

}  // namespace
}  // namespace strata::controllers

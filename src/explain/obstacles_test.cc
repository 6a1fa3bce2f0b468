#include "explain/obstacles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

CompletedObjects CompleteJobs(const std::string& manifests) {
  return CompleteObjects(objects::MustLoad(manifests)).value();
}

// The Job "t" of two pods with one more line in its spec.
std::string JobWith(const std::string& line) {
  std::string job = GangOf("t", 2, "cpu: 1", "");
  job.insert(job.find("  minAvailable"), "  " + line + "\n");
  return job;
}

std::string PodWith(const std::string& status) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: t-w-0}\nspec: {schedulerName: volcanoo, "
         "containers: [{name: c, image: i}]}\nstatus: {phase: Pending, " +
         status + "}\n---\n";
}

// Nobody can make a pod that names a PriorityClass which is not there.
TEST(FindMissingClasses, NamesTheClassAndTheCommandThatCreatesIt) {
  const auto found =
      FindMissingClasses(CompleteJobs(JobWith("priorityClassName: nope")), "default/t-t");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "PriorityClassNotFound");
  EXPECT_EQ(found[0].message,
            "PriorityClass \"nope\" does not exist, so its 2 pods cannot be created");
  EXPECT_EQ(found[0].advice, "create PriorityClass nope");
  EXPECT_EQ(found[0].command.line, "kubectl create priorityclass nope --value=0");
}

TEST(FindMissingClasses, NamesTheClassThatWasMeant) {
  const auto found = FindMissingClasses(
      CompleteJobs("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: "
                   "{name: urgent}\nvalue: 9\n---\n" +
                   JobWith("priorityClassName: urgnet")),
      "default/t-t");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].advice, "create PriorityClass urgnet, or name urgent in the Job");
}

TEST(FindMissingClasses, IsNoneWhenTheClassExists) {
  EXPECT_THAT(FindMissingClasses(CompleteJobs(JobWith("priorityClassName: system-node-critical")),
                                 "default/t-t"),
              IsEmpty());
  EXPECT_THAT(FindMissingClasses(CompleteJobs(GangOf("t", 2, "cpu: 1", "")), "default/t-t"),
              IsEmpty());
}

TEST(FindUnserved, NamesTheSchedulerAndTheOneThatWasMeant) {
  const auto found = FindUnserved(CompleteJobs(JobWith("schedulerName: volcanoo")), "default/t-t");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].reason, "SchedulerNotFound");
  EXPECT_EQ(found[0].message,
            "no scheduler serves schedulerName \"volcanoo\" of its 2 pods (served here: volcano, "
            "strata, default-scheduler, hami-scheduler)");
  EXPECT_EQ(found[0].advice, "set schedulerName: volcano (restarts the job)");
  EXPECT_EQ(found[0].command.line,
            "kubectl patch vcjob t -n default --type=json -p "
            "'[{\"op\":\"add\",\"path\":\"/spec/schedulerName\",\"value\":\"volcano\"}]' "
            "--dry-run=client -o yaml | kubectl replace --force -f -");
}

// A scheduler of ours marks such a pod, too; any other mark is that of the scheduler that serves
// it.
TEST(FindUnserved, LeavesPodsAloneThatTheirSchedulerHasLookedAt) {
  const std::string job = JobWith("schedulerName: volcanoo");
  const auto message = [&](const std::string& condition) {
    const auto found = FindUnserved(
        CompleteJobs(job + PodWith("conditions: [{type: PodScheduled, status: \"False\", " +
                                   condition + "}]")),
        "default/t-t");
    return found.empty() ? "" : found[0].message.substr(0, found[0].message.find(" ("));
  };
  EXPECT_EQ(message("message: no room"),
            "no scheduler serves schedulerName \"volcanoo\" of 1 of its 2 pods");
  EXPECT_EQ(message("message: 'no scheduler with the name \"volcanoo\" has looked at this pod'"),
            "no scheduler serves schedulerName \"volcanoo\" of its 2 pods");
}

}  // namespace
}  // namespace strata

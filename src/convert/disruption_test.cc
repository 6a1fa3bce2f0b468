#include "convert/disruption.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

constexpr const char* kClasses =
    "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: gentle}\n"
    "value: 10\npreemptionPolicy: Never\n---\n";

// A pod with these members of metadata and spec.
Disruption DisruptionOf(const std::string& metadata,
                        const std::string& spec = "",
                        const std::string& status = "") {
  const objects::ObjectSet set = objects::MustLoad(
      std::string(kClasses) + "apiVersion: v1\nkind: Pod\nmetadata: {name: p" + metadata +
      "}\nspec: {containers: [{name: c, image: i}]" + spec + "}\nstatus: {" + status + "}\n");
  return ToDisruption(set.pods.at(0), objects::PriorityTable(set.priority_classes));
}

std::uint32_t SecondsOf(Disruption::Moment moment) {
  return moment.time_since_epoch().count();
}

TEST(Disruption, OfAPodThatSaysNothingIsTheDefault) {
  EXPECT_EQ(DisruptionOf(""), Disruption{});
}

TEST(Disruption, ReadsPreemptableFromTheAnnotationThenFromTheLabel) {
  const std::string label = ", labels: {volcano.sh/preemptable: \"true\"}";
  EXPECT_TRUE(DisruptionOf(label).preemptable);
  EXPECT_FALSE(
      DisruptionOf(label + ", annotations: {volcano.sh/preemptable: \"false\"}").preemptable);
  EXPECT_FALSE(DisruptionOf(", annotations: {volcano.sh/preemptable: perhaps}").preemptable)
      << "what is not a boolean protects";
}

TEST(Disruption, APodGroupThatSaysNothingIsNotTakenToSayAnything) {
  objects::Metadata meta;
  EXPECT_EQ(SaysPreemptable(meta), std::nullopt);
  meta.labels["volcano.sh/preemptable"] = "false";
  EXPECT_EQ(SaysPreemptable(meta), false);
  meta.annotations["volcano.sh/preemptable"] = "T";
  EXPECT_EQ(SaysPreemptable(meta), true);
}

TEST(Disruption, ReadsTheCooldownFromTheLabelThenFromTheAnnotation) {
  const std::string annotation = ", annotations: {volcano.sh/cooldown-time: 10m}";
  EXPECT_EQ(DisruptionOf(annotation).cooldown_seconds, 600);
  EXPECT_EQ(
      DisruptionOf(annotation + ", labels: {volcano.sh/cooldown-time: 1500ms}").cooldown_seconds,
      2);
  EXPECT_EQ(DisruptionOf(", labels: {volcano.sh/cooldown-time: soon}").cooldown_seconds, 0);
}

TEST(Disruption, RunsSinceItWasScheduled) {
  const std::string when =
      "conditions: [{type: PodScheduled, status: \"True\", lastTransitionTime: "
      "\"1970-01-01T00:01:40Z\"}]";
  EXPECT_EQ(SecondsOf(DisruptionOf("", "", when).runs_since), 100U);
  const std::string never =
      "conditions: [{type: PodScheduled, status: \"False\", lastTransitionTime: "
      "\"1970-01-01T00:01:40Z\"}]";
  EXPECT_EQ(SecondsOf(DisruptionOf("", "", never).runs_since), 0U);
}

TEST(Disruption, ReadsTheLastCheckpoint) {
  const auto saved = [](const std::string& when) {
    return SecondsOf(
        DisruptionOf(", annotations: {volcano.sh/last-checkpoint-time: \"" + when + "\"}")
            .saved_at);
  };
  EXPECT_EQ(saved("1970-01-01T00:02:00Z"), 120U);
  EXPECT_EQ(saved("yesterday"), 0U);
}

TEST(Disruption, SystemPodsAreCritical) {
  EXPECT_TRUE(DisruptionOf("", ", priorityClassName: system-node-critical").critical);
  EXPECT_TRUE(DisruptionOf(", namespace: kube-system").critical);
  EXPECT_FALSE(DisruptionOf("", ", priorityClassName: gentle").critical);
}

TEST(Disruption, NeverPreemptsByItsOwnPolicyOrByThatOfItsClass) {
  EXPECT_TRUE(DisruptionOf("", ", preemptionPolicy: Never").never_preempts);
  EXPECT_TRUE(DisruptionOf("", ", priorityClassName: gentle").never_preempts);
  EXPECT_FALSE(
      DisruptionOf("", ", priorityClassName: gentle, preemptionPolicy: PreemptLowerPriority")
          .never_preempts);
}

TEST(Disruption, KeepsTheGracePeriodOfThePod) {
  EXPECT_EQ(DisruptionOf("", ", terminationGracePeriodSeconds: 5").grace_seconds, 5);
  EXPECT_EQ(DisruptionOf("", ", terminationGracePeriodSeconds: -5").grace_seconds, 0);
}

}  // namespace
}  // namespace strata

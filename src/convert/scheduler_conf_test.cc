#include "convert/scheduler_conf.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

SchedulerConf Parse(std::string text) {
  auto conf = ParseSchedulerConf({"s.conf", std::move(text)});
  EXPECT_TRUE(conf.has_value()) << conf.error().message;
  return conf ? std::move(*conf) : SchedulerConf{};
}

std::string ErrorOf(std::string text) {
  const auto conf = ParseSchedulerConf({"s.conf", std::move(text)});
  return conf ? "no error" : conf.error().message;
}

// Plugins in one tier, under the usual actions.
std::string Plugins(const std::string& lines) {
  return "actions: enqueue, allocate\ntiers:\n- plugins:\n" + lines;
}

TEST(SchedulerConf, KeepsActionsTiersSwitchesAndArguments) {
  const SchedulerConf conf = Parse(R"(
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
- plugins:
  - name: network-topology-aware
    arguments:
      weight: 10
      hypernode.binpack.normal-pod.fading: 0.5
configurations:
- name: allocate
  arguments:
    predicateErrorCacheEnable: true
)");
  EXPECT_THAT(conf.warnings, IsEmpty());
  ASSERT_EQ(conf.config.actions.size(), 3U);
  EXPECT_EQ(conf.config.actions[1].name, "allocate");
  EXPECT_TRUE(conf.config.actions[1].arguments.Has("predicateErrorCacheEnable"));
  ASSERT_EQ(conf.config.tiers.size(), 2U);
  EXPECT_FALSE(conf.config.tiers[0][1].Enabled("enablePreemptable"));
  EXPECT_TRUE(conf.config.tiers[0][1].Enabled("enableJobOrder"));
  EXPECT_EQ(conf.config.tiers[1][0].arguments.Int("weight", 1).value(), 10);
}

TEST(SchedulerConf, AQuotedNumberIsTheNumber) {
  const SchedulerConf conf =
      Parse(Plugins("  - name: network-topology-aware\n    arguments: {weight: \"10\"}\n"));
  EXPECT_EQ(conf.config.tiers[0][0].arguments.Int("weight", 1).value(), 10);
}

TEST(SchedulerConf, AConfigMapIsOpened) {
  const std::string inner = "    actions: allocate\n    tiers: [{plugins: [{name: gang}]}]\n";
  const SchedulerConf conf = Parse(
      "kind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\ndata:\n  volcano-scheduler.conf: |\n" +
      inner);
  EXPECT_EQ(conf.config.actions.size(), 1U);
  EXPECT_EQ(
      ErrorOf("kind: ConfigMap\ndata: {other: x}\n"),
      "s.conf: the ConfigMap has neither a data key volcano-scheduler.conf nor one other *.conf");
  EXPECT_THAT(ErrorOf("kind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n    actions: jump\n"),
              StartsWith("s.conf: data[volcano-scheduler.conf]: actions: unknown action \"jump\""));
}

TEST(SchedulerConf, AWrongTypeNamesFileAndField) {
  EXPECT_EQ(ErrorOf("actions: allocate\ntiers:\n- plugins: [{name: gang}]\n- plugins:\n"
                    "  - name: network-topology-aware\n    arguments: {weight: abc}\n"),
            "s.conf: tiers[1].plugins[0].arguments.weight: want an integer, found \"abc\"");
  EXPECT_EQ(
      ErrorOf(Plugins("  - name: gang\n    enableJobOrder: maybe\n")),
      "s.conf: tiers[0].plugins[0].enableJobOrder: want true or false, found string \"maybe\"");
  EXPECT_EQ(ErrorOf("actions: [allocate]\n"), "s.conf: actions: found a list, want a string");
  EXPECT_EQ(ErrorOf("actions: allocate\ntiers: gang\n"),
            "s.conf: tiers: found string \"gang\", want a list");
  EXPECT_EQ(ErrorOf(Plugins("  - enableJobOrder: true\n")),
            "s.conf: tiers[0].plugins[0].name: is required");
  EXPECT_EQ(ErrorOf("actions: allocate\ntiers: []\nconfigurations:\n- name: allocate\n"
                    "  arguments: {predicateErrorCacheEnable: \"may\\nbe\"}\n"),
            "s.conf: configurations[0].arguments.predicateErrorCacheEnable: want true or false, "
            "found \"may be\"");
}

TEST(SchedulerConf, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  EXPECT_THAT(ErrorOf("actions: allocate, jump\n"),
              StartsWith("s.conf: actions: unknown action \"jump\" (known: "));
  EXPECT_THAT(ErrorOf("actions: \"allocate, ju\\nmp\"\n"),
              StartsWith("s.conf: actions: unknown action \"ju mp\" (known: "));
  EXPECT_EQ(ErrorOf(Plugins("  - name: ganng\n")),
            "s.conf: tiers[0].plugins[0].name: unknown plugin \"ganng\" (known: binpack, capacity, "
            "cdp, conformance, deviceshare, drf, fragmentation, gang, network-topology-aware, "
            "nodegroup, nodeorder, numa-aware, overcommit, pdb, predicates, priority, proportion, "
            "resourcequota, sla, task-topology)");
  EXPECT_THAT(ErrorOf("actions: allocate\nconfigurations: [{name: jump}]\n"),
              StartsWith("s.conf: configurations[0].name: unknown action \"jump\""));
}

TEST(SchedulerConf, WhatVolcanoHasAndStrataHasNotIsLeftOutWithAWarning) {
  const SchedulerConf conf =
      Parse("actions: allocate, shuffle\ntiers: [{plugins: [{name: gang}, {name: tdm}]}]\n");
  EXPECT_EQ(conf.config.actions.size(), 1U);
  EXPECT_EQ(conf.config.tiers[0].size(), 1U);
  EXPECT_THAT(
      conf.warnings,
      ElementsAre(
          "s.conf: actions: action \"shuffle\" is not supported yet and is ignored",
          "s.conf: tiers[0].plugins[1]: plugin \"tdm\" is not supported yet and is ignored"));
}

TEST(SchedulerConf, UnknownKeysAreWarnings) {
  const SchedulerConf conf = Parse(
      "actions: allocate\nspeed: 3\n"
      "tiers: [{plugins: [{name: binpack, enableMagic: true, arguments: {binpack.foo: 1}}]}]\n");
  EXPECT_THAT(conf.warnings,
              ElementsAre("s.conf: speed: unknown key, ignored",
                          "s.conf: tiers[0].plugins[0].enableMagic: unknown key, ignored",
                          "s.conf: tiers[0].plugins[0].arguments.binpack.foo: unknown argument, "
                          "ignored"));
  EXPECT_THAT(Parse("actions: allocate\nconfigurations:\n"
                    "- {name: allocate, arguments: {predicateErrorCacheEnable: false, foo: 3}}\n"
                    "- {name: shuffle, arguments: {of.volcano: 3}}\n")
                  .warnings,
              ElementsAre("s.conf: configurations[0].arguments.foo: unknown argument, ignored"));
}

TEST(SchedulerConf, ActionsThatEvictHaveArguments) {
  const SchedulerConf conf = Parse(
      "actions: allocate, gangpreempt\nconfigurations:\n"
      "- {name: gangpreempt, arguments: {maxDomains: 0, victimOrderPolicy: priority-first, "
      "dryRun: true, speed: 3}}\n");
  ASSERT_EQ(conf.config.actions.size(), 2U);
  EXPECT_TRUE(conf.config.actions[1].arguments.Has("dryRun"));
  EXPECT_THAT(conf.warnings,
              ElementsAre("s.conf: configurations[0].arguments.maxDomains: 0 is below 1, 8 is used",
                          "s.conf: configurations[0].arguments.speed: unknown argument, ignored"));
  EXPECT_EQ(ErrorOf("actions: reclaim\nconfigurations:\n"
                    "- {name: reclaim, arguments: {victimOrderPolicy: random}}\n"),
            "s.conf: configurations[0].arguments.victimOrderPolicy: want safe-first or "
            "priority-first, found \"random\"");
}

TEST(SchedulerConf, NamesOfActionsInAnotherCaseAreUnderstood) {
  const SchedulerConf conf = Parse(
      "actions: allocate, gangPreempt\nconfigurations: [{name: gangPreempt, arguments: {}}]\n");
  ASSERT_EQ(conf.config.actions.size(), 2U);
  EXPECT_EQ(conf.config.actions[1].name, "gangpreempt");
  EXPECT_THAT(conf.warnings,
              ElementsAre("s.conf: configurations[0].name: read as \"gangpreempt\"",
                          "s.conf: actions: \"gangPreempt\" is read as \"gangpreempt\""));
}

TEST(SchedulerConf, NoActionsAreAnError) {
  EXPECT_THAT(ErrorOf("actions: \"\"\n"), StartsWith("s.conf: actions: want at least one of "));
  EXPECT_THAT(ErrorOf("tiers: []\n"), StartsWith("s.conf: actions: want at least one of "));
  EXPECT_THAT(ErrorOf("actions: shuffle\n"),
              StartsWith("s.conf: actions: none of these is supported yet"));
  EXPECT_THAT(ErrorOf("actions: \"allocate,\"\n"),
              StartsWith("s.conf: actions: unknown action \"\""));
}

TEST(SchedulerConf, HierarchicalDrfAndProportionExcludeEachOther) {
  EXPECT_EQ(
      ErrorOf(Plugins("  - {name: drf, enableHierarchy: true}\n  - {name: proportion}\n")),
      "s.conf: tiers[0].plugins: drf with enableHierarchy and proportion exclude each other in "
      "one tier");
  EXPECT_EQ(ErrorOf(Plugins("  - {name: drf}\n  - {name: proportion}\n")), "no error");
}

TEST(SchedulerConf, BrokenYamlSaysWhere) {
  EXPECT_THAT(ErrorOf("actions: [allocate\n"), StartsWith("s.conf: line "));
  EXPECT_EQ(ErrorOf(""), "s.conf: found 0 documents, want one scheduler configuration");
  EXPECT_EQ(ErrorOf("just words\n"), "s.conf: found string \"just words\", want an object");
}

}  // namespace
}  // namespace strata

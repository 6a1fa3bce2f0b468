#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/device_ids.h"
#include "base/ascii.h"
#include "tests/agent/fake_kubelet.h"
#include "tests/agent/fake_scheduler.h"

namespace strata::testing {

inline std::vector<std::string> SortedPhysical(const std::vector<std::string>& ids) {
  std::vector<std::string> uuids;
  for (const std::string& id : ids) uuids.emplace_back(agent::PhysicalId(id));
  std::sort(uuids.begin(), uuids.end());
  return uuids;
}

inline std::vector<std::string> VisibleDevices(const FakeKubelet::Served& served) {
  std::vector<std::string> uuids;
  for (const std::string_view uuid : Split(served.environment.at("NVIDIA_VISIBLE_DEVICES"), ',')) {
    uuids.emplace_back(uuid);
  }
  std::sort(uuids.begin(), uuids.end());
  return uuids;
}

// Every container sees the GPUs of its record, and the kubelet counts it on the same ones.
inline void ExpectOwnGpus(const FakeKubelet::Outcome& outcome, const BoundPod& bound) {
  ASSERT_EQ(outcome.end, FakeKubelet::Outcome::End::kAdmitted)
      << bound.pod.name << ": " << outcome.error;
  for (const auto& [container, uuids] : bound.uuids) {
    const FakeKubelet::Served& served = outcome.containers.at(container);
    EXPECT_EQ(VisibleDevices(served), uuids) << bound.pod.name << " " << container;
    EXPECT_EQ(SortedPhysical(served.ids), uuids) << bound.pod.name << " " << container;
  }
}

}  // namespace strata::testing

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "admission/test_rules.h"
#include "admission/test_samples.h"
#include "tests/support/property.h"

namespace strata::admission {
namespace {

using nlohmann::json;
using strata::testing::Below;
using strata::testing::CheckProperty;

TEST(AdmissionProperty, RulesAcceptAnyInputAndAdmitTheirOwnResult) {
  const std::vector<Sample> samples = Samples();
  TestStore store;
  for (const char* name : {"root", "default", "p"}) {
    store.Hold("queues.scheduling.volcano.sh", {{"metadata", {{"name", name}}}});
  }
  std::size_t admitted = 0;
  CheckProperty(3000, [&] {
    const Sample& sample =
        samples[static_cast<std::size_t>(*Below(static_cast<int>(samples.size())))];
    const AdmissionContext context{sample.row, store, kTestNow};
    json object = sample.object;
    for (int i = *Below(3); i > 0; --i) Spoil(object);
    if (!object.is_object()) object = json::object();
    const json given = object;
    if (AdmitCreate(context, object)) {
      ++admitted;
      json again = object;
      RC_ASSERT(AdmitCreate(context, again).has_value());
      RC_ASSERT(again == object);
      json same = object;
      const auto kept = AdmitUpdate(context, object, same, "");
      RC_LOG(kept ? "" : kept.error().message);
      RC_ASSERT(kept.has_value());
      RC_ASSERT(same == object);
    }
    for (const char* subresource : {"", "status", "scale"}) {
      json after = given;
      (void)AdmitUpdate(context, sample.object, after, subresource);
    }
    (void)AdmitDelete(context, given);
  });
  EXPECT_GT(admitted, 100U);
}

}  // namespace
}  // namespace strata::admission

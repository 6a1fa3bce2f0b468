#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "admission/test_samples.h"
#include "apiserver/test_rows.h"
#include "apiserver/views/views.h"
#include "tests/support/property.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using strata::testing::Below;
using strata::testing::CheckProperty;

TEST(TableProperty, EveryObjectHasACellPerColumn) {
  const std::vector<admission::Sample> samples = admission::Samples();
  CheckProperty(3000, [&] {
    const admission::Sample& sample =
        samples[static_cast<std::size_t>(*Below(static_cast<int>(samples.size())))];
    const Resource row = TestRow(sample.row.group, sample.row.kind, sample.row.plural);
    json object = sample.object;
    for (int i = *Below(3); i > 0; --i) admission::Spoil(object);
    if (!object.is_object()) object = json::object();
    RC_ASSERT(Cells(row, object, kTestNow).size() == ColumnDefinitions(row).size());
  });
}

}  // namespace
}  // namespace strata::apiserver

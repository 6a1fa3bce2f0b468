#include "inspect/known_names.h"

#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

TEST(ReadNamesQuery, TakesTheClusterAndTheNamespaceFromTheLine) {
  const NamesQuery query =
      ReadNamesQuery({"job", "describe", "--context=lab", "-n", "ml", "--kubeconfig", "/k", "tra"});
  EXPECT_EQ(query.connection.context, "lab");
  EXPECT_EQ(query.connection.kubeconfig, "/k");
  EXPECT_EQ(query.ns, "ml");
  EXPECT_EQ(query.word, "tra");
  EXPECT_EQ(ReadNamesQuery({"explain", "-nml", ""}).ns, "ml");
  EXPECT_EQ(ReadNamesQuery({"explain", "--namespace=ml", ""}).ns, "ml");
}

TEST(ReadNamesQuery, SaysNothingOfAnEmptyLine) {
  const NamesQuery query = ReadNamesQuery({});
  EXPECT_EQ(query.ns + query.word + query.connection.context, "");
}

}  // namespace
}  // namespace strata::inspect

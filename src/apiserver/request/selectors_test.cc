#include "apiserver/request/selectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/request/request_path.h"

namespace strata::apiserver {
namespace {

using ::testing::HasSubstr;

bool Takes(std::string_view selector, const Pairs& labels) {
  const auto parsed = ParseLabelSelector(selector);
  EXPECT_TRUE(parsed) << selector;
  return parsed && MatchesAll(*parsed, labels);
}

TEST(LabelSelectorText, HasEveryOperator) {
  const Pairs labels = {{"a", "1"}, {"b", "x"}, {"example.com/c", ""}};
  EXPECT_TRUE(Takes("", labels));
  EXPECT_TRUE(Takes("a=1,b==x", labels));
  EXPECT_TRUE(Takes(" a in ( 1 , 2 ) , b notin (y) ", labels));
  EXPECT_TRUE(Takes("a,!z", labels));
  EXPECT_TRUE(Takes("example.com/c=", labels));
  EXPECT_TRUE(Takes("a>0,a<2", labels));
  EXPECT_TRUE(Takes("z!=1,z notin (1)", labels));
  EXPECT_FALSE(Takes("b>0", labels));
  EXPECT_FALSE(Takes("z in (1)", labels));
  EXPECT_FALSE(Takes("!a", labels));
}

TEST(LabelSelectorText, RefusesWhatMakesNoSense) {
  for (const char* bad : {"a b",
                          "=1",
                          "a=1,",
                          ",",
                          "a in 1",
                          "a in (1",
                          "!",
                          "a>x",
                          "a=b=c",
                          "a!",
                          "-a=1",
                          "a=b c",
                          "a=/"}) {
    EXPECT_FALSE(ParseLabelSelector(bad)) << bad;
  }
  EXPECT_THAT(ParseLabelSelector("a b").error().message, HasSubstr("unable to parse requirement"));
}

TEST(FieldSelectorText, KnowsEscapesAndOnlySomeFields) {
  Resource pods;
  pods.selectable_fields = {"spec.nodeName"};
  StoredObject pod;
  pod.name = "a";
  pod.fields = {{"spec.nodeName", "x,=y"}};
  const auto matches = [&](std::string_view text) {
    const auto selector = Selector::Parse(pods, "", text);
    EXPECT_TRUE(selector) << text;
    return selector && selector->Matches(pod);
  };
  EXPECT_TRUE(matches("spec.nodeName=x\\,\\=y"));
  EXPECT_TRUE(matches("metadata.name==a,spec.nodeName!=z"));
  EXPECT_FALSE(matches("metadata.namespace=default"));
  EXPECT_FALSE(Selector::Parse(pods, "", "status.phase=Running"));
  EXPECT_FALSE(Selector::Parse(pods, "", "metadata.name"));
  EXPECT_FALSE(Selector::Parse(pods, "", "metadata.name=a\\b"));
}

TEST(RequestPath, ReadsEveryForm) {
  const auto read = [](std::string_view path) {
    const auto segments = PathSegments(path);
    return segments ? ToResourcePath(*segments) : std::nullopt;
  };
  EXPECT_EQ(read("/api/v1/namespaces/x/pods/a/status"),
            (ResourcePath{"", "v1", "x", "pods", "a", "status"}));
  EXPECT_EQ(read("/api/v1/namespaces/x"), (ResourcePath{"", "v1", "", "namespaces", "x", ""}));
  EXPECT_EQ(read("/api/v1/namespaces/x/status"),
            (ResourcePath{"", "v1", "", "namespaces", "x", "status"}));
  EXPECT_EQ(read("/apis/g.io/v2/things/"), (ResourcePath{"g.io", "v2", "", "things", "", ""}));
  EXPECT_EQ(read("/apis/g.io"), std::nullopt);
  EXPECT_EQ(read("/api/v1/pods/a/b/c"), std::nullopt);
}

TEST(RequestPath, RefusesTricks) {
  for (const char* bad : {"/api/v1/../v1/pods",
                          "/api//v1",
                          "/api/v1/%2e%2e",
                          "/api/v1/a%2fb",
                          "/api/v1/a%00",
                          "/api/v1/%zz",
                          "/api/v1/%c3%28",
                          "api/v1",
                          "/api/v1/a%252f"}) {
    EXPECT_EQ(PathSegments(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace strata::apiserver

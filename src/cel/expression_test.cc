#include "cel/expression.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata::cel {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// "true", "false", "error: ..." of an evaluation, or "refused: ..." when the text does not parse.
std::string Eval(std::string_view text, const json& self = nullptr, const json& old = nullptr) {
  const Result<Expression> expression = Expression::Parse(text);
  if (!expression) return "refused: " + expression.error().message;
  Budget budget;
  const Result<bool> result = expression->Evaluate(self, &old, budget);
  if (!result) return "error: " + result.error().message;
  return *result ? "true" : "false";
}

json J(std::string text) {
  for (char& c : text) {
    if (c == '\'') c = '"';
  }
  return json::parse(text);
}

TEST(Cel, EvaluatesTheRulesOfVolcanosKinds) {
  const char* some = "has(self.exactMatch) || has(self.regexMatch) || has(self.labelMatch)";
  EXPECT_EQ(Eval(some, J("{}")), "false");
  EXPECT_EQ(Eval(some, J("{'labelMatch': {}}")), "true");

  const char* one =
      "(has(self.exactMatch) ? 1 : 0) + (has(self.regexMatch) ? 1 : 0) + (has(self.labelMatch) ? 1 "
      ": 0) <= 1";
  EXPECT_EQ(Eval(one, J("{}")), "true");
  EXPECT_EQ(Eval(one, J("{'exactMatch': {}}")), "true");
  EXPECT_EQ(Eval(one, J("{'exactMatch': {}, 'labelMatch': {}}")), "false");

  const char* tier =
      "!has(self.highestTierAllowed) || !has(self.highestTierName) || self.highestTierName == ''";
  EXPECT_EQ(Eval(tier, J("{'highestTierAllowed': 1}")), "true");
  EXPECT_EQ(Eval(tier, J("{'highestTierAllowed': 1, 'highestTierName': ''}")), "true");
  EXPECT_EQ(Eval(tier, J("{'highestTierAllowed': 1, 'highestTierName': 'rack'}")), "false");
}

TEST(Cel, BindsOperatorsAsStronglyAsCelDoes) {
  EXPECT_EQ(Eval("1 + 2 * 3 == 7"), "true");
  EXPECT_EQ(Eval("10 - 2 - 3 == 5"), "true");
  EXPECT_EQ(Eval("-2 * -3 == 6 && -(1) < 0"), "true");
  EXPECT_EQ(Eval("true || false && false"), "true");
  EXPECT_EQ(Eval("(true || false) && false"), "false");
  EXPECT_EQ(Eval("!false == true"), "true");
  EXPECT_EQ(Eval("false ? false : true ? true : false"), "true");
  EXPECT_EQ(Eval("7 % 4 == 3 && 7 / 2 == 3 && -7 / 2 == -3"), "true");
  EXPECT_EQ(Eval("1 < 2 == true"), "true");
}

TEST(Cel, ReadsFieldsIndexesAndMaps) {
  const json self =
      J("{'a': {'b-c': [1, 2, {'d': true}]}, 'namespace': 'x', 'e__f': 1, 'n': null}");
  EXPECT_EQ(Eval("self.a.b__dash__c[2].d", self), "true");
  EXPECT_EQ(Eval("self['a']['b-c'][1] == 2", self), "true");
  EXPECT_EQ(Eval("self.__namespace__ == 'x'", self), "true");
  EXPECT_EQ(Eval("self.e__underscores__f == 1", self), "true");
  EXPECT_EQ(Eval("has(self.n)", self), "false");
  EXPECT_EQ(Eval("{'x': 1, 'y': [2]}['y'][0] == 2"), "true");
  EXPECT_EQ(Eval("[1, 2,] + [3] == [1, 2, 3]"), "true");
}

TEST(Cel, ComparesValuesOfEveryType) {
  EXPECT_EQ(Eval("1 == 1.0 && 1 != '1' && null == null"), "true");
  EXPECT_EQ(Eval("2 > 1.5 && 'a' < 'b' && false < true && 9007199254740993 > 9007199254740992.0"),
            "true");
  EXPECT_EQ(Eval("self == {'a': [1, {'b': 2}]}", J("{'a': [1, {'b': 2}]}")), "true");
  EXPECT_EQ(Eval("self > 9223372036854775807", json(18446744073709551615U)), "true");
  EXPECT_EQ(Eval("1 < '1'"), "error: no such overload");
}

TEST(Cel, KnowsTheFunctionsOfTexts) {
  const json self = "gpu-node-1";
  EXPECT_EQ(Eval("self.startsWith('gpu') && self.endsWith('-1') && self.contains('node')", self),
            "true");
  EXPECT_EQ(Eval("self.matches('^[a-z]+-node-[0-9]+$') && !self.matches('^node')", self), "true");
  EXPECT_EQ(Eval("size(self) == 10 && 'äö'.size() == 2 && self + '!' == \"gpu-node-1!\"", self),
            "true");
  EXPECT_EQ(Eval(R"('a\n\x41\u00e4\U0001F600\101' == "a\nAä😀A" && r'\n'.size() == 2)"), "true");
  EXPECT_EQ(Eval("'''it's''' == \"it's\""), "true");
}

TEST(Cel, LooksForMembersOfListsAndKeysOfMaps) {
  EXPECT_EQ(Eval("self in ['a', 'b'] && !('c' in ['a'])", "b"), "true");
  EXPECT_EQ(Eval("'k' in self && !('x' in self)", J("{'k': 1}")), "true");
  EXPECT_EQ(Eval("1 in 2"), "error: no such overload");
}

TEST(Cel, MacrosGoOverListsAndKeys) {
  const json self = J("{'l': [1, 2, 3], 'm': {'a': 1, 'bb': 2}}");
  EXPECT_EQ(Eval("self.l.all(x, x > 0) && !self.l.all(x, x > 1)", self), "true");
  EXPECT_EQ(Eval("self.l.exists(x, x == 2) && !self.l.exists(x, x == 4)", self), "true");
  EXPECT_EQ(Eval("self.l.exists_one(x, x > 2) && !self.l.exists_one(x, x > 1)", self), "true");
  EXPECT_EQ(Eval("self.m.exists(k, k.size() == 2) && self.m.all(k, self.m[k] > 0)", self), "true");
  EXPECT_EQ(Eval("self.l.all(x, self.l.exists(y, y == x && [x].all(x, x == y)))", self), "true");
  EXPECT_EQ(Eval("[].all(x, false) && ![].exists(x, true)"), "true");
  EXPECT_EQ(Eval("self.all(x, true)", 1), "error: no such overload");
}

TEST(Cel, ComparesWithThePreviousState) {
  EXPECT_EQ(Eval("self.a == oldSelf.a", J("{'a': 1}"), J("{'a': 1}")), "true");
  EXPECT_EQ(Eval("self.a >= oldSelf.a", J("{'a': 1}"), J("{'a': 2}")), "false");
  EXPECT_TRUE(Expression::Parse("[1].all(x, oldSelf == x)")->uses_old_self());
  EXPECT_FALSE(Expression::Parse("[1].all(oldSelf, oldSelf == 1)")->uses_old_self());
}

TEST(Cel, ErrorsNameTheirCause) {
  EXPECT_EQ(Eval("self.a == 1", J("{}")), "error: no such key: a");
  EXPECT_EQ(Eval("has(self.a.b)", J("{}")), "error: no such key: a");
  EXPECT_EQ(Eval("self['k'] == 1", J("{}")), "error: no such key: k");
  EXPECT_EQ(Eval("self[2] == 1", J("[1]")), "error: index out of bounds: 2");
  EXPECT_EQ(Eval("self[-1] == 1", J("[1]")), "error: index out of bounds: -1");
  EXPECT_EQ(Eval("1 / self == 1", 0), "error: division by zero");
  EXPECT_EQ(Eval("1 % self == 1", 0), "error: modulus by zero");
  EXPECT_EQ(Eval("self + 1 > 0", INT64_MAX), "error: integer overflow");
  EXPECT_EQ(Eval("self / -1 > 0", INT64_MIN), "error: integer overflow");
  EXPECT_EQ(Eval("-self > 0", INT64_MIN), "error: integer overflow");
  EXPECT_EQ(Eval("self % -1 == 0", INT64_MIN), "true");
  EXPECT_EQ(Eval("self", 1), "error: no such overload");
  EXPECT_EQ(Eval("self.a.b", J("{'a': 1}")), "error: no such overload");
  EXPECT_EQ(Eval("{'a': 1, 'a': 2} == {}"), "error: duplicate key in a map");
}

TEST(Cel, IgnoresAnErrorThatCannotChangeTheResult) {
  EXPECT_EQ(Eval("self.a == 1 || true", J("{}")), "true");
  EXPECT_EQ(Eval("true || self.a == 1", J("{}")), "true");
  EXPECT_EQ(Eval("self.a == 1 && false", J("{}")), "false");
  EXPECT_EQ(Eval("self.a == 1 || false", J("{}")), "error: no such key: a");
  EXPECT_EQ(Eval("self.all(x, x.a > 0)", J("[{}, {'a': 0}]")), "false");
  EXPECT_EQ(Eval("self.exists(x, x.a > 0)", J("[{}, {'a': 1}]")), "true");
  EXPECT_EQ(Eval("self.all(x, x.a > 0)", J("[{}, {'a': 1}]")), "error: no such key: a");
  EXPECT_EQ(Eval("self.exists_one(x, x.a > 0)", J("[{}, {'a': 1}]")), "error: no such key: a");
}

TEST(Cel, RejectsUnsupportedFunctionsByName) {
  EXPECT_EQ(Eval("self.nobody.knows()"),
            "refused: function \"knows\" is not supported (known: all, contains, endsWith, exists, "
            "exists_one, has, matches, size, startsWith) at character 13");
  EXPECT_THAT(Eval("quantity(self) > 1"), HasSubstr("function \"quantity\" is not supported"));
  EXPECT_EQ(Eval("other == 1"), "refused: undeclared reference to \"other\" at character 1");
  EXPECT_EQ(Eval("1u == 1"), "refused: unsigned integers are not supported at character 1");
  EXPECT_EQ(Eval("b'a' == b'a'"),
            "refused: a string with prefix \"b\" is not supported at character 1");
  EXPECT_EQ(Eval("Thing{a: 1} == self"), "refused: type \"Thing\" is not supported at character 1");
  EXPECT_EQ(Eval("'a'.matches(self)"),
            "refused: matches() with a pattern that is not a string literal is not supported at "
            "character 5");
  EXPECT_EQ(Eval("self.size() + 1"), "refused: must evaluate to a bool");
  EXPECT_EQ(Eval("self ? 1 : true"), "refused: must evaluate to a bool");
}

TEST(Cel, RefusesBrokenTexts) {
  EXPECT_EQ(Eval(""), "refused: unexpected end at character 1");
  EXPECT_EQ(Eval("self =="), "refused: unexpected end at character 8");
  EXPECT_EQ(Eval("self = 1"), "refused: unexpected \"=\" at character 6");
  EXPECT_EQ(Eval("(self"), "refused: expected \")\" at character 6");
  EXPECT_EQ(Eval("self 1"), "refused: unexpected literal at character 6");
  EXPECT_EQ(Eval("self # 1"), "refused: unexpected character \"#\" at character 6");
  EXPECT_EQ(Eval("self.1 == 1"), "refused: unexpected literal at character 5");
  EXPECT_EQ(Eval("'a"), "refused: string without end at character 1");
  EXPECT_EQ(Eval("'a\nb' == self"), "refused: string without end at character 1");
  EXPECT_EQ(Eval(R"('\q' == self)"), "refused: invalid escape sequence at character 2");
  EXPECT_EQ(Eval(R"('\ud800' == self)"), "refused: invalid escape sequence at character 2");
  EXPECT_EQ(Eval(R"('\)"), "refused: invalid escape sequence at character 2");
  EXPECT_EQ(Eval(R"('\x)"), "refused: invalid escape sequence at character 2");
  EXPECT_EQ(Eval(R"('\1)"), "refused: invalid escape sequence at character 2");
  EXPECT_EQ(Eval("9223372036854775808 == self"), "refused: invalid number at character 1");
  EXPECT_EQ(Eval("1e == self"), "refused: invalid number at character 1");
  EXPECT_EQ(Eval("0x == self"), "refused: invalid number at character 1");
  EXPECT_EQ(Eval("has(self)"),
            "refused: the argument of has() must be a field, such as has(self.a) at character 1");
  EXPECT_EQ(Eval("has(self.a, self.b)"),
            "refused: function \"has\" takes 1 argument, not 2 at character 1");
  EXPECT_EQ(Eval("self.all(1, true)"),
            "refused: all() needs the name of a variable first at character 10");
  EXPECT_EQ(Eval("if == 1"), "refused: \"if\" is a reserved word at character 1");
  EXPECT_THAT(Eval("self.matches('(')"), HasSubstr("refused: invalid pattern: "));
}

TEST(Cel, BoundsSizeAndDepthOfAText) {
  const auto times = [](int count, std::string_view text) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  EXPECT_EQ(Eval(times(150, "(") + "true" + times(150, ")")), "true");
  EXPECT_THAT(Eval(times(201, "(") + "true" + times(201, ")")),
              HasSubstr("nested deeper than 200 levels"));
  EXPECT_EQ(Eval(times(100, "!") + "true"), "true");
  EXPECT_THAT(Eval(times(5000, "!") + "true"), HasSubstr("nested deeper than 200 levels"));
  EXPECT_THAT(Eval("true" + times(300, " && true")), HasSubstr("nested deeper than 200 levels"));
  EXPECT_THAT(Eval("self" + times(300, ".a")), HasSubstr("nested deeper than 200 levels"));
  EXPECT_EQ(Eval(std::string(16385, ' ')), "refused: longer than 16384 bytes");
}

TEST(Cel, BoundsTheCostOfARuleAndOfARequest) {
  const json self = json::array_t(200, 1);
  const Result<Expression> slow =
      Expression::Parse("self.all(a, self.all(b, self.all(c, a == b && b == c)))");
  ASSERT_TRUE(slow);
  Budget budget;
  const Result<bool> result = slow->Evaluate(self, nullptr, budget);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kUnavailable);
  EXPECT_LT(budget.left, kMaxTotalCost - kMaxRuleCost);

  // An error of the cost is not hidden by the other side.
  const Result<Expression> hidden =
      Expression::Parse("self.all(a, self.all(b, self.all(c, a == b && b == c))) || true");
  EXPECT_FALSE(hidden->Evaluate(self, nullptr, budget));

  budget.left = 2;
  EXPECT_FALSE(Expression::Parse("1 + 1 == 2")->Evaluate(self, nullptr, budget));
  EXPECT_EQ(budget.left, 0);
}

TEST(Cel, ChargesByTheLengthOfTextsAndLists) {
  const json self = std::string(3'000'000, 'a');
  Budget budget;
  const auto cost = [&](std::string_view text) {
    const std::int64_t before = budget.left;
    (void)Expression::Parse(text)->Evaluate(self, &self, budget);
    return before - budget.left;
  };
  EXPECT_GT(cost("self.matches('b')"), 300'000);
  EXPECT_GT(cost("self.contains('b')"), 300'000);
  EXPECT_GT(cost("self == oldSelf"), 300'000);
  EXPECT_LT(cost("self.startsWith('b')"), 10);
  EXPECT_EQ(Eval("[self + self].exists(x, [x + x].exists(y, y == ''))", self),
            "error: cost limit exceeded");
}

}  // namespace
}  // namespace strata::cel

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/problems.h"
#include "schema/schema.h"

namespace strata::schema {

// Reads the keywords of one place of an openAPIV3Schema that hold plain values. What is of the
// wrong type or has an invalid value becomes a problem at `at`.<keyword>.
class KeywordReader {
 public:
  KeywordReader(const nlohmann::json& source, const std::string& at, ProblemList& problems)
      : source_(source), at_(at), problems_(problems) {}

  void Read(Schema& schema);

 private:
  std::string Text(std::string_view key);
  std::optional<std::int64_t> Count(std::string_view key);
  std::optional<double> Number(std::string_view key);
  void ReadListType(Schema& schema);
  void ReadMapType(Schema& schema);
  void ReadRules(Schema& schema);

  const nlohmann::json& source_;
  const std::string& at_;
  ProblemList& problems_;
};

}  // namespace strata::schema

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <rapidcheck.h>

namespace strata::schema::testing {

// Any JSON, at most `depth` deep; objects have keys of `keys`, which makes them fit a schema here
// and there.
inline rc::Gen<nlohmann::json> AnyJson(const std::vector<std::string>& keys, int depth) {
  using nlohmann::json;
  const auto scalar = rc::gen::oneOf(
      rc::gen::just(json(nullptr)),
      rc::gen::map(rc::gen::arbitrary<bool>(), [](bool value) { return json(value); }),
      rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](auto value) { return json(value); }),
      rc::gen::map(rc::gen::arbitrary<double>(), [](double value) { return json(value); }),
      rc::gen::map(rc::gen::string<std::string>(), [](std::string value) { return json(value); }),
      rc::gen::element<json>("", "1", "1Gi", "1e3", "2026-01-02T03:04:05Z", 0, 1, -1, 1e300));
  if (depth == 0) return scalar;
  const auto inner = AnyJson(keys, depth - 1);
  const auto list = rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<json>>(inner)),
                                 [](std::vector<json> items) { return json(std::move(items)); });
  const auto object = rc::gen::map(
      rc::gen::resize(
          12, rc::gen::container<std::map<std::string, json>>(rc::gen::elementOf(keys), inner)),
      [](std::map<std::string, json> members) { return json(std::move(members)); });
  return rc::gen::oneOf(scalar, list, object, object);
}

}  // namespace strata::schema::testing

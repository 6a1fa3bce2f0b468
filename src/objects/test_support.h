#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "objects/load.h"

// Short words for tests: objects from a text, or the error it gives.
namespace strata::objects {

inline Result<ObjectSet> LoadText(std::string text, std::string name = "in.yaml") {
  const std::vector<Source> sources = {Source{std::move(name), std::move(text)}};
  return ParseObjects(sources);
}

inline ObjectSet MustLoad(std::string text) {
  Result<ObjectSet> loaded = LoadText(std::move(text));
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
  return loaded ? std::move(*loaded) : ObjectSet{};
}

inline std::string LoadError(std::string text, std::string name = "in.yaml") {
  const Result<ObjectSet> loaded = LoadText(std::move(text), std::move(name));
  return loaded ? "no error" : loaded.error().message;
}

}  // namespace strata::objects

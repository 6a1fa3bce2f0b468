// Any text read as YAML, or as objects, gives a value or an error: no crash, no leak, one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "objects/load.h"
#include "objects/value.h"
#include "objects/yaml_to_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using strata::objects::Document;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto documents = strata::objects::YamlToJson(text)) {
    for (const std::string& json : *documents) {
      const auto parsed = Document::ParseJson(json);
      CHECK(parsed || parsed.error().message.find("deeper") != std::string::npos);
    }
  }
  const std::vector<strata::objects::Source> sources = {{"fuzz.yaml", text}};
  const auto loaded = strata::objects::ParseObjects(sources);
  CHECK(loaded || loaded.error().message.starts_with("fuzz.yaml: "));
  CHECK(loaded || loaded.error().message.find('\n') == std::string::npos);
  return 0;
}

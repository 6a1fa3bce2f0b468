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
  const bool is_text = text.find('\0') == std::string::npos;
  if (const auto documents = strata::objects::YamlToJson(text); documents && is_text) {
    for (const std::string& json : *documents) {
      const auto parsed = Document::ParseJson(json);
      // What the writer writes is JSON, unless the YAML held bytes that are no UTF-8.
      CHECK(parsed || parsed.error().message.find("UTF-8") != std::string::npos ||
            parsed.error().message.find("ill-formed") != std::string::npos ||
            parsed.error().message.find("64 bits") != std::string::npos);
    }
  }
  const std::vector<strata::objects::Source> sources = {{"fuzz.yaml", text}};
  const auto loaded = strata::objects::ParseObjects(sources);
  CHECK(loaded || loaded.error().message.starts_with("fuzz.yaml: "));
  CHECK(loaded || loaded.error().message.find('\n') == std::string::npos);
  return 0;
}

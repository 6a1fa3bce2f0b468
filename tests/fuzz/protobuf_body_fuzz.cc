// Fuzzes bodies of type application/vnd.kubernetes.protobuf.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "wire/protobuf_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const strata::Result<nlohmann::json> object = strata::wire::ReadProtobufBody(body);
  if (object && (!object->is_object() || object->dump().empty())) std::abort();
  return 0;
}

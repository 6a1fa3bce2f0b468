// Whatever is asked of the page, it is an answer or one sentence: a body of what-if, a query, names
// that are hidden.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "page/routes.h"
#include "page/scope.h"
#include "page/story_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto request = page::ReadWhatIf(text);
  if (!request) CHECK(!request.error().message.empty());
  const auto namespaces = page::ReadNamespaces(text);
  if (namespaces) CHECK(!namespaces->contains(""));
  static_cast<void>(page::ReadMoment(text));
  static_cast<void>(page::FindRoute("/page/v1/" + text));
  const page::Scope scope{.everything = false, .queues = true, .namespaces = {"a"}};
  // A name of a hidden namespace is gone wherever it stands between blanks.
  const std::string hidden = page::HideNames(text + " secret/name", scope, {"a", "secret"});
  CHECK(!hidden.ends_with(" secret/name"));
  return 0;
}

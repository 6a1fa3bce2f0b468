#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/http_message.h"
#include "net/http_server.h"

// Paths to answers.
namespace strata::page {

struct Route {
  enum class Kind : std::uint8_t {
    kUnknown,
    kFile,
    kHello,
    kCluster,
    kEvents,
    kQueues,
    kJob,   // names: namespace, name
    kNode,  // names: name
    kFit,
    kStory,  // names: namespace, name
    kWhatIf,
    kHistory,
  } kind = Kind::kUnknown;
  std::vector<std::string> names;  // decoded
};
// Pure.
[[nodiscard]] Route FindRoute(const std::string& path);

// Where a viewer wants the stream to begin.
struct StreamStart {
  std::int64_t epoch = 0;
  std::int64_t revision = 0;
};
// kInvalidArgument names the parameter.
[[nodiscard]] Result<StreamStart> ReadStreamStart(const std::string& query);
// The namespaces that the viewer names ("namespaces=a,b"), which matter where not all may be
// listed. kInvalidArgument when the query cannot be read.
[[nodiscard]] Result<std::set<std::string, std::less<>>> ReadNamespaces(const std::string& query);
// The moment `at`, in milliseconds since 1970; none where it is not asked for.
[[nodiscard]] Result<std::optional<Time>> ReadMoment(const std::string& query);
// The value of `pod`, "" for none. kInvalidArgument when the query cannot be read.
[[nodiscard]] Result<std::string> ReadShape(const std::string& query);

}  // namespace strata::page

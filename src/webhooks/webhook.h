#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::webhooks {

// What is done to an object; bits, so that several fit into one value.
enum Operation : std::uint8_t { kCreate = 1, kUpdate = 2, kDelete = 4 };
using Operations = std::uint8_t;

// "`CREATE`, `UPDATE` or `DELETE`".
[[nodiscard]] std::string ShowOperations(Operations operations);

// One of Volcano's webhooks, or HAMi's: under which path it is asked, by which name refusals call
// it, and what it is asked about.
struct Webhook {
  enum class Effect : std::uint8_t { kMutate, kValidate };

  std::string_view path;  // "/jobs/mutate"
  std::string_view name;  // "mutatejob.volcano.sh"
  Effect effect = Effect::kValidate;
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  Operations operations = kCreate;
  // Whether objects are made as they are when nobody answers, and those with the label
  // hami.io/webhook: ignore in any case.
  bool optional = false;
  // Which pods it is asked about. kOwn: those of our schedulers. kOwnAndMarked: those, and pods
  // with annotations that schedulers and agents of GPUs write.
  enum class Pods : std::uint8_t { kAll, kOwn, kOwnAndMarked };
  Pods pods = Pods::kAll;
};

// Every webhook there is, by path.
[[nodiscard]] std::span<const Webhook> AllWebhooks();

// Whether an API server may ask there: under the path of every webhook, enabled or not, and of
// those that Volcano has for kinds that are not here.
[[nodiscard]] bool IsWebhookPath(std::string_view path);

// What Volcano's chart enables, less the kinds that are not here.
inline constexpr std::string_view kUsualWebhooks =
    "/jobs/mutate,/jobs/validate,/podgroups/validate,/queues/mutate,/queues/validate,"
    "/hypernodes/validate";

struct EnabledWebhooks {
  std::vector<const Webhook*> webhooks;  // in the order of AllWebhooks
  std::vector<std::string> left_out;     // paths of Volcano's for kinds that are not here
};
// "/jobs/mutate,/queues/validate", as Volcano's flag --enabled-admission. kInvalidArgument for a
// path that nobody knows.
[[nodiscard]] Result<EnabledWebhooks> ParseEnabled(std::string_view paths);

}  // namespace strata::webhooks

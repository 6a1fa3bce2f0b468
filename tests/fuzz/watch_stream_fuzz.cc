// Any bytes as the answers of an API server: the consumer of a reflector hears of each object only
// what can be, and nothing crashes. The first byte says how the stream is cut into pieces.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kube/failure.h"
#include "kube/lease_state.h"
#include "kube/reflector_state.h"
#include "net/line_splitter.h"

namespace {

using namespace strata::kube;  // NOLINT(google-build-using-namespace)

class Consumer {
 public:
  void Hear(const std::vector<Delta>& deltas) {
    for (const Delta& delta : deltas) {
      if (delta.type == Delta::Type::kSynced) continue;
      const auto found = versions_.find(delta.key);
      CHECK((found == versions_.end()) == (delta.type == Delta::Type::kAdded));
      if (delta.type == Delta::Type::kDeleted) {
        versions_.erase(found);
        continue;
      }
      CHECK(delta.type != Delta::Type::kModified || found->second != delta.version);
      CHECK(!delta.text.empty());
      versions_[delta.key] = delta.version;
    }
  }

 private:
  std::map<ObjectKey, std::string> versions_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Random random = [] { return 0.5; };
  for (const auto streaming :
       {ReflectorState::Streaming::kTry, ReflectorState::Streaming::kNever}) {
    ReflectorState state({kPods, "", "", ""},
                         {.source = 0, .page_size = 2, .streaming = streaming, .backoff = {}});
    Consumer consumer;
    strata::net::LineSplitter lines;
    (void)state.NextCall(random);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const std::string_view part = std::string_view(text).substr(at, piece);
      (void)lines.Feed(part, [&](std::string line) {
        std::vector<Delta> deltas;
        const bool page = state.asking() == ReflectorState::Asking::kPage;
        const auto taken = page ? state.TakePage(std::move(line), deltas)
                                : state.TakeLine(std::move(line), deltas);
        consumer.Hear(deltas);
        const auto kind =
            taken ? ReflectorState::End::Kind::kComplete : ReflectorState::End::Kind::kUnusable;
        if (page || !taken) {
          (void)state.TakeEnd({kind, {}}, random);
          (void)state.NextCall(random);
        }
        return true;
      });
    }
  }
  CHECK(!ReadFailure(500, {}, text).error.message.empty());
  LeaseState lease({"ns", "name", "me"});
  if (lease.TakeRead(text, {})) CHECK(!lease.Body({}).empty());
  return 0;
}

#include "kube/informers.h"

#include <utility>

namespace strata::kube {

Informers::Informers(Client& client, DeltaQueue& queue, Options options)
    : client_(client), queue_(queue), options_(std::move(options)) {}

Informers::~Informers() {
  client_.reads().Run([this] {
    for (const auto& reflector : reflectors_) reflector->Stop();
  });
}

int Informers::Add(WatchSpec spec) {
  const int source = static_cast<int>(reflectors_.size());
  ReflectorState state(std::move(spec),
                       {.source = source,
                        .page_size = options_.page_size,
                        .streaming = options_.streaming,
                        .backoff = options_.backoff});
  Reflector::Hooks hooks;
  hooks.deltas = [this](std::vector<Delta> deltas) { queue_.Push(std::move(deltas)); };
  hooks.trouble = options_.trouble;
  hooks.sight = options_.sight;
  auto reflector = std::make_shared<Reflector>(
      client_, std::move(state), std::move(hooks), options_.random, options_.patience);
  reflectors_.push_back(reflector);
  client_.reads().Post([reflector] { reflector->Start(); });
  return source;
}

void Informers::CatchUp() {
  client_.reads().Post([reflectors = reflectors_] {
    for (const auto& reflector : reflectors) reflector->CatchUp();
  });
}

}  // namespace strata::kube

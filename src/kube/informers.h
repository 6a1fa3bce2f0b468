#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/delta.h"
#include "kube/reflector.h"
#include "kube/reflector_state.h"

namespace strata::kube {

// Views of the API server's collections that feed one queue. Each goes on, through whatever
// happens, until this is destroyed; nothing is pushed afterwards.
class Informers {
 public:
  struct Options {
    int page_size = 500;
    ReflectorState::Streaming streaming = ReflectorState::Streaming::kTry;
    Backoff::Limits backoff;
    Reflector::Patience patience;
    Random random = SystemRandom();  // called on the thread of client.reads()
    Reflector::OnTrouble trouble;    // the same thread; may be empty
    Reflector::OnSight sight;        // the same
  };

  // `client` and `queue` must outlive it.
  Informers(Client& client, DeltaQueue& queue, Options options);
  Informers(const Informers&) = delete;
  Informers& operator=(const Informers&) = delete;
  ~Informers();

  // Starts another and gives the number by which its Deltas are known: 0, 1, 2... From the thread
  // that owns this.
  int Add(WatchSpec spec);

  // Each informer pushes kCaughtUp when it has pushed everything that the server had at this
  // moment, which a watch that is behind, or broken, may not have shown yet. From the thread that
  // owns this.
  void CatchUp();

 private:
  Client& client_;
  DeltaQueue& queue_;
  Options options_;
  std::vector<std::shared_ptr<Reflector>> reflectors_;
};

}  // namespace strata::kube

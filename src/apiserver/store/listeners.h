#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace strata::apiserver {

// Callbacks for changes, in the order in which they were added.
class Listeners {
 public:
  using Token = std::shared_ptr<void>;

  // Until the token is destroyed, which may be after the Listeners.
  [[nodiscard]] Token Add(std::function<void()> listener) {
    const std::uint64_t id = entries_->next++;
    entries_->by_id.emplace(id, std::move(listener));
    return {entries_.get(), [id, weak = std::weak_ptr(entries_)](void*) {
              if (const auto entries = weak.lock()) entries->by_id.erase(id);
            }};
  }

  // A listener may end its own subscription, another's, or the life of this object.
  void Tell() const {
    const auto entries = entries_;
    for (auto at = entries->by_id.begin(); at != entries->by_id.end();) {
      const std::uint64_t id = at->first;
      const std::function<void()> listener = at->second;
      listener();
      at = entries->by_id.upper_bound(id);
    }
  }

 private:
  struct Entries {
    std::map<std::uint64_t, std::function<void()>> by_id;
    std::uint64_t next = 0;
  };
  std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();
};

}  // namespace strata::apiserver

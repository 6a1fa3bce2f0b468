#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "net/event_loop.h"
#include "net/http_server.h"

// The stream of changes (docs/page.md) to any number of viewers.
namespace strata::page {

// Leave to follow a stream, which may be taken back. From any thread.
struct Ticket {
  std::atomic<bool> is_over = false;
};

// Keeps the last changes of the present epoch as texts that all viewers share. A viewer that is too
// far behind, or of another epoch, is told to begin again, and its stream ends. What is kept has
// `max_bytes` at most, and one change at least.
//
// Everything on the loop, but for viewers().
class Stream {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;

  // `on_viewer` is called for each viewer that comes. The loop must outlive it.
  Stream(net::EventLoop& loop, std::function<void()> on_viewer, std::size_t max_bytes = kMaxBytes);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // REQUIRES: the server is gone, so that no viewer is left.
  ~Stream();

  // Changes of `epoch` will follow, the first after `revision`.
  void Begin(std::int64_t epoch, std::int64_t revision);
  // `data` is the text of a change: one line.
  void Add(std::int64_t revision, const std::string& data);
  // Answers with what comes after `revision` of `epoch`, until the ticket is over (after the next
  // Tell). Without one until the viewer goes.
  void Open(const std::shared_ptr<net::Exchange>& exchange,
            std::int64_t epoch,
            std::int64_t revision,
            std::shared_ptr<const Ticket> ticket = nullptr);
  // Lets every viewer look whether something has changed for it.
  void Tell() { WakeAll(); }

  // From any thread.
  [[nodiscard]] std::size_t viewers() const { return viewers_; }

 private:
  class Viewer;

  void WakeAll();
  void Ping();

  net::EventLoop& loop_;
  const std::function<void()> on_viewer_;
  const std::size_t max_bytes_;
  std::int64_t epoch_ = 0;
  std::int64_t first_ = 1;  // the revision of events_.front()
  std::deque<std::shared_ptr<const std::string>> events_;
  std::size_t bytes_ = 0;
  std::uint64_t pings_ = 0;
  net::TimerId ping_;
  std::uint64_t last_viewer_ = 0;
  std::map<std::uint64_t, std::shared_ptr<net::Exchange>> open_;
  std::atomic<std::size_t> viewers_ = 0;
};

}  // namespace strata::page

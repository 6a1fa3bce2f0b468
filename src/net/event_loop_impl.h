#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <list>
#include <map>

#include "net/event_loop.h"

// For the sources of this folder only: what is behind an EventLoop.
namespace strata::net {

struct EventLoop::Impl {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::map<std::uint64_t, boost::asio::steady_timer> timers;
  std::uint64_t next_timer = 1;
  std::list<boost::asio::signal_set> signals;
};

}  // namespace strata::net

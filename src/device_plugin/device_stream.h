#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "base/mutex.h"
#include "device_plugin/proto/kubelet_device_plugin.pb.h"

namespace strata::device_plugin {

using DeviceList = std::shared_ptr<const v1beta1::ListAndWatchResponse>;

// One ListAndWatch of a kubelet: it gets the whole list at first and whenever the list has changed.
// Destroys itself when gRPC is done with it. Thread-safe.
class DeviceStream final : public grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse> {
 public:
  // `done` is called once, when the stream has ended, by the kubelet or by End.
  explicit DeviceStream(std::function<void(DeviceStream*)> done) : done_(std::move(done)) {}

  void Send(DeviceList devices);
  void End();

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // Starts what is due: a write, or the end. gRPC allows one write at a time, and none after
  // Finish.
  void Proceed();

  const std::function<void(DeviceStream*)> done_;
  Mutex mutex_;
  DeviceList next_ GUARDED_BY(mutex_);  // null: nothing new
  DeviceList writing_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
  bool finished_ GUARDED_BY(mutex_) = false;
};

}  // namespace strata::device_plugin

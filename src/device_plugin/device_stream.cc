#include "device_plugin/device_stream.h"

#include <utility>

namespace strata::device_plugin {

void DeviceStream::Send(DeviceList devices) {
  {
    const MutexLock lock(mutex_);
    next_ = std::move(devices);
  }
  Proceed();
}

void DeviceStream::End() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  Proceed();
}

void DeviceStream::OnWriteDone(bool ok) {
  {
    const MutexLock lock(mutex_);
    writing_.reset();
    if (!ok) ending_ = true;
  }
  Proceed();
}

void DeviceStream::OnCancel() {
  End();
}

void DeviceStream::OnDone() {
  done_(this);
  delete this;
}

void DeviceStream::Proceed() {
  MutexLock lock(mutex_);
  if (finished_ || writing_ != nullptr) return;
  if (ending_) {
    finished_ = true;
    lock.Unlock();
    Finish(grpc::Status::OK);
    return;
  }
  if (next_ == nullptr) return;
  writing_ = std::move(next_);
  next_.reset();
  const v1beta1::ListAndWatchResponse* message = writing_.get();
  lock.Unlock();
  StartWrite(message);
}

}  // namespace strata::device_plugin

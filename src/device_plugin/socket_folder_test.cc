#include "device_plugin/socket_folder.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace strata::device_plugin {
namespace {

class SocketFolderTest : public ::testing::Test {
 protected:
  // A listening socket; dead once it is closed.
  [[nodiscard]] int Listen(const std::string& name) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder_ + "/" + name;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto* plain = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(server, plain, sizeof(address)), 0);
    EXPECT_EQ(::listen(server, 1), 0);
    return server;
  }

  const strata::testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(SocketFolderTest, RemovesOnlyDeadSocketsOfOurs) {
  const int live = Listen("strata-x-1.sock");
  ::close(Listen("strata-x-2.sock"));
  ::close(Listen("other.sock"));
  EXPECT_EQ(RemoveDeadSockets(folder_, "strata-x-"), 1);
  EXPECT_TRUE(IsServed(folder_ + "/strata-x-1.sock"));
  EXPECT_FALSE(IdentityOf(folder_ + "/strata-x-2.sock").has_value());
  EXPECT_TRUE(IdentityOf(folder_ + "/other.sock").has_value());
  EXPECT_FALSE(IsServed(folder_ + "/other.sock"));
  ::close(live);
}

TEST_F(SocketFolderTest, TellsASocketFromALaterOneOfTheSameName) {
  const std::string path = folder_ + "/kubelet.sock";
  ::close(Listen("kubelet.sock"));
  const auto first = IdentityOf(path);
  EXPECT_EQ(first, IdentityOf(path));
  std::filesystem::remove(path);
  EXPECT_FALSE(IdentityOf(path).has_value());
  ::close(Listen("kubelet.sock"));
  EXPECT_NE(first, IdentityOf(path));
}

TEST_F(SocketFolderTest, WatchNoticesFilesAlsoAfterTheFolderWasMadeAgain) {
  FolderWatch watch(folder_);
  constexpr Duration kForever = std::chrono::minutes(10);
  std::ofstream(folder_ + "/a").close();
  watch.Wait(kForever);
  std::filesystem::remove_all(folder_);
  watch.Wait(kForever);
  std::filesystem::create_directory(folder_);
  watch.Wait(Duration(0));  // what a caller that looks again every few seconds does
  std::ofstream(folder_ + "/b").close();
  watch.Wait(kForever);
  watch.Wake();
  watch.Wait(kForever);
}

}  // namespace
}  // namespace strata::device_plugin

// Load for an API server on plain HTTP of this machine: many connections, one request at a time on
// each, all by one thread. Prints one line of JSON per run.
//
//   api_load PORT create COUNT CONNECTIONS    pods of 2 kB, load-0 and so on, in namespace default
//   api_load PORT bind COUNT CONNECTIONS      binds them
//   api_load PORT list                        all pods, whole
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

using Instant = std::chrono::steady_clock::time_point;

[[noreturn]] void Die(const std::string& why) {
  fmt::print(stderr, "api_load: {}\n", why);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe)
}

int Connect(std::uint16_t port) {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(file, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    Die(fmt::format("nobody listens on port {}", port));
  }
  const int on = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return file;
}

void SendAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(file, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) Die("the server closed the connection");
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string Post(const std::string& path, const std::string& body) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: api_load\r\nAccept: application/json\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      path,
      body.size(),
      body);
}

// A pod as a controller makes them, 2 kB of JSON.
std::string Create(int number) {
  std::string body = fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"load-{}","labels":{{"app":"load",)"
      R"("volcano.sh/job-name":"load","volcano.sh/task-spec":"worker"}},)"
      R"("annotations":{{"scheduling.k8s.io/group-name":"load","filler":"FILLER"}}}},)"
      R"("spec":{{"schedulerName":"volcano","restartPolicy":"Never","containers":[{{"name":"main",)"
      R"("image":"registry.example.com/training:1.0","command":["python3","train.py"],)"
      R"("env":[{{"name":"RANK","value":"{}"}},{{"name":"WORLD_SIZE","value":"1000"}},)"
      R"({{"name":"MASTER_ADDR","value":"load-0.load"}}],)"
      R"("resources":{{"requests":{{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"8"}},)"
      R"("limits":{{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"8"}}}}}}],)"
      R"("tolerations":[{{"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"}}]}}}})",
      number,
      number);
  constexpr std::size_t kBytes = 2000;
  const std::string_view mark = "FILLER";
  const std::size_t fill = kBytes > body.size() ? kBytes - body.size() : 0;
  body.replace(body.find(mark), mark.size(), std::string(fill + mark.size(), 'x'));
  return Post("/api/v1/namespaces/default/pods", body);
}

std::string Bind(int number) {
  return Post(fmt::format("/api/v1/namespaces/default/pods/load-{}/binding", number),
              fmt::format(R"({{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"load-{}"}},)"
                          R"("target":{{"kind":"Node","name":"node-{}"}}}})",
                          number,
                          number % 1000));
}

// One connection with one request under way.
struct Lane {
  int file = -1;
  std::string in;
  Instant sent;
};

// The length of the whole answer at the front of `text`; 0 when it is not all there.
std::size_t AnswerLength(std::string_view text) {
  const std::size_t head = text.find("\r\n\r\n");
  if (head == std::string_view::npos) return 0;
  const std::string_view name = "Content-Length: ";
  const std::size_t at = text.substr(0, head).find(name);
  if (at == std::string_view::npos) Die("an answer without Content-Length");
  std::size_t length = 0;
  std::from_chars(text.data() + at + name.size(), text.data() + head, length);
  const std::size_t all = head + 4 + length;
  return text.size() >= all ? all : 0;
}

// `count` requests over `connections`; the milliseconds that each took, sorted.
std::vector<double> Drive(std::uint16_t port,
                          int count,
                          int connections,
                          const std::function<std::string(int)>& request) {
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Lane> lanes(static_cast<std::size_t>(std::min(connections, count)));
  int next = 0;
  const auto send_next = [&](Lane& lane) {
    lane.sent = std::chrono::steady_clock::now();
    SendAll(lane.file, request(next++));
  };
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lanes[i].file = Connect(port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    epoll_ctl(poller, EPOLL_CTL_ADD, lanes[i].file, &event);
    send_next(lanes[i]);
  }
  std::vector<double> took;
  std::array<epoll_event, 64> events{};
  std::array<char, 65536> buffer{};
  while (took.size() < static_cast<std::size_t>(count)) {
    const int ready = epoll_wait(poller, events.data(), static_cast<int>(events.size()), 30'000);
    if (ready <= 0) Die("the server does not answer");
    for (int i = 0; i < ready; ++i) {
      Lane& lane = lanes[events[static_cast<std::size_t>(i)].data.u64];
      const ssize_t got = recv(lane.file, buffer.data(), buffer.size(), 0);
      if (got <= 0) Die("the server closed the connection");
      lane.in.append(buffer.data(), static_cast<std::size_t>(got));
      const std::size_t length = AnswerLength(lane.in);
      if (length == 0) continue;
      if (!lane.in.starts_with("HTTP/1.1 201")) Die(lane.in.substr(0, 2000));
      lane.in.erase(0, length);
      const auto elapsed = std::chrono::steady_clock::now() - lane.sent;
      took.push_back(std::chrono::duration<double, std::milli>(elapsed).count());
      if (next < count) send_next(lane);
    }
  }
  for (const Lane& lane : lanes) close(lane.file);
  close(poller);
  std::sort(took.begin(), took.end());
  return took;
}

void Report(const char* what, const std::vector<double>& took, double seconds) {
  const auto at = [&](double share) {
    return took[static_cast<std::size_t>(share * static_cast<double>(took.size() - 1))];
  };
  fmt::print(R"({{"what":"{}","count":{},"perSecond":{:.0f},"p50Ms":{:.2f},"p99Ms":{:.2f}}})"
             "\n",
             what,
             took.size(),
             static_cast<double>(took.size()) / seconds,
             at(0.5),
             at(0.99));
}

void List(std::uint16_t port) {
  const auto start = std::chrono::steady_clock::now();
  const int file = Connect(port);
  SendAll(file,
          "GET /api/v1/pods HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: api_load\r\n"
          "Accept: application/json\r\nConnection: close\r\n\r\n");
  std::vector<char> buffer(1 << 20);
  std::size_t bytes = 0;
  for (ssize_t got = 0; (got = recv(file, buffer.data(), buffer.size(), 0)) > 0;) {
    bytes += static_cast<std::size_t>(got);
  }
  close(file);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  fmt::print(R"({{"what":"list","bytes":{},"ms":{:.1f}}})"
             "\n",
             bytes,
             std::chrono::duration<double, std::milli>(elapsed).count());
}

int Number(std::string_view text) {
  int number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || number <= 0) Die(fmt::format("{}: want a number", text));
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) Die("want PORT create|bind|list [COUNT CONNECTIONS]");
  const auto port = static_cast<std::uint16_t>(Number(arguments[0]));
  if (arguments[1] == "list") {
    List(port);
    return 0;
  }
  if (arguments.size() != 4) Die("want COUNT and CONNECTIONS");
  const bool create = arguments[1] == "create";
  const auto start = std::chrono::steady_clock::now();
  const std::vector<double> took =
      Drive(port, Number(arguments[2]), Number(arguments[3]), create ? Create : Bind);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  Report(arguments[1].c_str(), took, std::chrono::duration<double>(elapsed).count());
  return 0;
}

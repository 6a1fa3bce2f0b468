#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace strata {

// A program that is asked in lines on its standard input and answers in lines on its standard
// output. It ends with this: first its input is closed, and a second later it is killed. One
// thread.
class ExecProgram {
 public:
  // Without a shell; found by PATH. kNotFound when it cannot be started.
  [[nodiscard]] static Result<std::unique_ptr<ExecProgram>> Start(const std::string& program);
  ExecProgram(const ExecProgram&) = delete;
  ExecProgram& operator=(const ExecProgram&) = delete;
  ~ExecProgram();

  // kUnavailable when the program has ended.
  [[nodiscard]] Status Say(const std::string& line);
  // The next line of its output. kUnavailable when it has ended, or says nothing for a minute.
  [[nodiscard]] Result<std::string> Hear();

 private:
  ExecProgram(std::string name, int socket, int child)
      : name_(std::move(name)), socket_(socket), child_(child) {}
  [[nodiscard]] tl::unexpected<Error> Problem(const std::string& what) const;

  std::string name_;
  int socket_;
  int child_;
  std::string heard_;
};

}  // namespace strata

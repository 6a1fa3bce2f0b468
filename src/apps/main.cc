#include "apps/command_line.h"

int main(int argc, char** argv) {
  return strata::RunCommandLine(argc, argv);
}

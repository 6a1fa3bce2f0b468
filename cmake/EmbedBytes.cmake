# Writes a C++ file with a function that returns the bytes of a file, std::string_view <Function>(), at build time:
#
#   cmake -DIN=<file> -DOUT=<cc> -DNAMESPACE=<a::b> -DNAME=<Function> -P cmake/EmbedBytes.cmake
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUT} "#include <iterator>
#include <string_view>

namespace ${NAMESPACE} {

std::string_view ${NAME}();

std::string_view ${NAME}() {
  static constexpr char kBytes[] = {
    ${bytes}};
  return {kBytes, std::size(kBytes)};
}

}  // namespace ${NAMESPACE}
")

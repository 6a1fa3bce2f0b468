# Every third-party library, found once. All are Debian 12 packages (tools/packages.txt); imported
# targets count as system headers, so their warnings stay out of our build.
find_package(Threads REQUIRED)

find_package(tl-expected CONFIG REQUIRED)    # tl::expected                  Debian: libexpected-dev
find_package(fmt CONFIG REQUIRED)            # fmt::fmt                      Debian: libfmt-dev
find_package(yaml-cpp CONFIG REQUIRED)       # yaml-cpp (writes YAML)        Debian: libyaml-cpp-dev
find_package(simdjson CONFIG REQUIRED)       # simdjson::simdjson            Debian: libsimdjson-dev
find_package(nlohmann_json CONFIG REQUIRED)  # nlohmann_json::nlohmann_json  Debian: nlohmann-json3-dev
find_package(CURL REQUIRED)                  # CURL::libcurl                 Debian: libcurl4-openssl-dev
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)  # OpenSSL::SSL, OpenSSL::Crypto  Debian: libssl-dev
find_package(ZLIB REQUIRED)                  # ZLIB::ZLIB                    Debian: zlib1g-dev
find_package(Boost 1.81 REQUIRED)            # Boost::headers                Debian: libboost1.81-dev
find_package(SQLite3 REQUIRED)               # SQLite::SQLite3               Debian: libsqlite3-dev
find_package(Protobuf REQUIRED)              # protobuf::libprotobuf         Debian: libprotobuf-dev protobuf-compiler
find_package(prometheus-cpp CONFIG REQUIRED)  # prometheus-cpp::core       Debian: prometheus-cpp-dev
find_package(CLI11 CONFIG REQUIRED)          # CLI11::CLI11                  Debian: libcli11-dev

find_package(PkgConfig REQUIRED)             #                               Debian: pkg-config
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)  #                       Debian: libre2-dev
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)  # reads YAML        Debian: libyaml-dev
add_library(re2::re2 ALIAS PkgConfig::RE2)

# Only the device plugin of strata-agent needs gRPC: without it strata builds all the same.
if(BUILD_TESTING)
  find_package(gRPC CONFIG REQUIRED)         # gRPC::grpc++                  Debian: libgrpc++-dev protobuf-compiler-grpc
else()
  find_package(gRPC CONFIG QUIET)
endif()

if(BUILD_TESTING)
  find_package(GTest CONFIG REQUIRED)        # GTest::gmock_main             Debian: libgtest-dev libgmock-dev
  find_package(rapidcheck CONFIG REQUIRED)   # rapidcheck                    Debian: librapidcheck-dev
endif()
if(STRATA_BENCH)
  find_package(benchmark CONFIG REQUIRED)    # benchmark::benchmark          Debian: libbenchmark-dev
endif()

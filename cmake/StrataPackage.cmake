# What `cmake --install` puts where, and the Debian package of it (`cpack --config build/CPackConfig.cmake`, or `make package`).
include(GNUInstallDirs)

# To install takes what is installed, not every test.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# Programs are installed without their debug information, which is seven times as large. It lies beside them, in .debug/,
# where debuggers look for it by the name that the program has for it; in Debian packages it is one of its own.
set(stripped ${PROJECT_BINARY_DIR}/stripped)
find_program(STRATA_OBJCOPY objcopy REQUIRED)  # Debian: binutils, by g++
# strata-agent is there where gRPC is (src/device_plugin).
set(programs strata)
if(TARGET strata-agent)
  list(APPEND programs strata-agent)
endif()
foreach(program IN LISTS programs)
  add_custom_command(OUTPUT ${stripped}/${program} ${stripped}/${program}.debug
    COMMAND ${CMAKE_COMMAND} -E make_directory ${stripped}
    COMMAND ${STRATA_OBJCOPY} --only-keep-debug --compress-debug-sections $<TARGET_FILE:${program}> ${program}.debug
    COMMAND ${STRATA_OBJCOPY} --strip-all --add-gnu-debuglink=${program}.debug $<TARGET_FILE:${program}> ${program}
    DEPENDS ${program} WORKING_DIRECTORY ${stripped} VERBATIM)
  install(PROGRAMS ${stripped}/${program} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
  install(FILES ${stripped}/${program}.debug DESTINATION ${CMAKE_INSTALL_BINDIR}/.debug COMPONENT debug)
endforeach()
list(TRANSFORM programs PREPEND ${stripped}/)
add_custom_target(strata_stripped ALL DEPENDS ${programs})
add_dependencies(strata_programs strata_stripped)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME programs)
install(PROGRAMS src/apps/kubectl-strata DESTINATION ${CMAKE_INSTALL_BINDIR})

# What shells complete is said by the program itself, as the manual page is (src/apps).
set(said ${PROJECT_BINARY_DIR}/said)
add_custom_command(OUTPUT ${said}/strata ${said}/_strata ${said}/strata.fish ${said}/strata.1.gz
  COMMAND ${CMAKE_COMMAND} -E make_directory ${said}
  COMMAND strata completion bash > ${said}/strata
  COMMAND strata completion zsh > ${said}/_strata
  COMMAND strata completion fish > ${said}/strata.fish
  COMMAND gzip --no-name --best --stdout ${PROJECT_BINARY_DIR}/strata.1 > ${said}/strata.1.gz
  DEPENDS strata ${PROJECT_BINARY_DIR}/strata.1 VERBATIM)
add_custom_target(strata_said ALL DEPENDS ${said}/strata)
add_dependencies(strata_programs strata_said)
install(FILES ${said}/strata.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${said}/strata DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${said}/_strata DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${said}/strata.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

foreach(service scheduler controllers)
  install(FILES deploy/systemd/strata-${service}.service DESTINATION lib/systemd/system)
  install(FILES deploy/systemd/strata-${service}.default DESTINATION /etc/default RENAME strata-${service})
endforeach()
install(DIRECTORY deploy/crds deploy/chart/rbac deploy/chart/webhooks deploy/chart/config deploy/monitoring DESTINATION ${CMAKE_INSTALL_DATADIR}/strata)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME strata)
set(CPACK_PACKAGE_CONTACT "Strata maintainers <maintainers@strata.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Topology-aware gang scheduling for Kubernetes")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL programs debug)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME strata)
set(CPACK_DEBIAN_DEBUG_PACKAGE_NAME strata-dbgsym)
set(CPACK_COMPONENT_DEBUG_DESCRIPTION "Debug information of the programs of package strata")
set(CPACK_DEBIAN_DEBUG_PACKAGE_DEPENDS "strata (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEBUG_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEBUG_PACKAGE_CONTROL_EXTRA "")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/debian/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

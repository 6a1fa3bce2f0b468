# What `cmake --install` puts where, and the Debian package of it (`cpack --config build/CPackConfig.cmake`, or `make package`).
include(GNUInstallDirs)

# To install takes what is installed, not every test.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

install(TARGETS strata strata-agent RUNTIME)
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
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/debian/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

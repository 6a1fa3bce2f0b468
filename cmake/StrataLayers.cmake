# Reads cmake/layers.txt. Afterwards:
#   STRATA_MODULES            every module, in an order in which each comes after what it may use
#   STRATA_LAYER_<module>     its layer
#   STRATA_SAME_LAYER_<module>  the modules of its own layer that it may use
set(layers_file ${CMAKE_CURRENT_LIST_DIR}/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${layers_file})
set(STRATA_MODULES)
file(STRINGS ${layers_file} lines REGEX "^[0-9a-z]")
foreach(line IN LISTS lines)
  string(REPLACE " " ";" words "${line}")
  list(POP_FRONT words first)
  if(first STREQUAL "allow")
    list(GET words 0 user)
    list(GET words 1 used)
    list(APPEND STRATA_SAME_LAYER_${user} ${used})
  elseif(NOT first STREQUAL "inside")  # one library: only tools/check_layers.py can tell its folders apart
    foreach(module IN LISTS words)
      set(STRATA_LAYER_${module} ${first})
      list(APPEND STRATA_MODULES ${module})
    endforeach()
  endif()
endforeach()

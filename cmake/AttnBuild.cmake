# How attn's libraries are built: attn_plain_library (no LLVM, no MLIR),
# attn_llvm_library (LLVM Support) and attn_mlir_library (the compiler).

function(attn_plain_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# LLVM's headers are system headers: their warnings are not ours.
function(attn_llvm_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE -fno-rtti)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} attn_llvm)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

function(attn_mlir_library name)
  attn_llvm_library(${name} ${ARGN})
  add_dependencies(${name} attn-headers)
endfunction()

# attn_llvm: everything of LLVM and MLIR, either as the two shared libraries or
# as archives in one group (their dependencies are cyclic).
add_library(attn_llvm INTERFACE)
if(ATTN_STATIC)
  execute_process(
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libs nvptx passes irreader bitreader bitwriter linker
            ipo mcparser targetparser coroutines frontendopenmp debuginfodwarf orcjit executionengine
    OUTPUT_VARIABLE attn_llvm_libs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(attn_llvm_libs)
  file(GLOB attn_mlir_libs ${LLVM_LIBRARY_DIRS}/libMLIR*.a)
  # These need libraries that are not installed, and nothing here uses them.
  list(FILTER attn_mlir_libs EXCLUDE REGEX "libMLIR(CAPI|MlirOptMain|.*Test)")
  target_link_directories(attn_llvm INTERFACE ${LLVM_LIBRARY_DIRS})
  target_link_options(attn_llvm INTERFACE -Wl,--gc-sections)
  target_link_libraries(attn_llvm INTERFACE
    -Wl,--start-group ${attn_mlir_libs} ${attn_llvm_libs} -Wl,--end-group z zstd pthread dl m)
else()
  target_link_libraries(attn_llvm INTERFACE MLIR LLVM)
endif()

# attn_dialect(Tile tile): TableGen for include/attn/Dialect/Tile/IR/TileOps.td,
# which includes the dialect, attribute and type definitions. Generates
# Tile{Dialect,Enums,Attrs,Types,Ops}.{h,cpp}.inc beside it in the build folder.
function(attn_dialect name namespace)
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${namespace})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${namespace})
  mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${namespace})
  mlir_tablegen(${name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${namespace})
  mlir_tablegen(${name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${namespace})
  mlir_tablegen(${name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${namespace})
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls -dialect=${namespace})
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs -dialect=${namespace})
  add_public_tablegen_target(Attn${name}IncGen)
  add_dependencies(attn-headers Attn${name}IncGen)
endfunction()

# attn_passes(Tile): TableGen for Passes.td of a folder; header PassesGen.h.inc.
function(attn_passes name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name Attn${name})
  add_public_tablegen_target(Attn${name}PassesIncGen)
  add_dependencies(attn-headers Attn${name}PassesIncGen)
endfunction()

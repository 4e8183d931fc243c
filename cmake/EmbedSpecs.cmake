# Writes OUTPUT, a C++ file that defines attn::spec::shippedSpecs() over the
# files of SPECS: cmake -DOUTPUT=... -DSPECS=... -P EmbedSpecs.cmake
list(SORT SPECS)
set(entries "")
foreach(spec IN LISTS SPECS)
  get_filename_component(name ${spec} NAME_WE)
  file(READ ${spec} text)
  string(APPEND entries "    {\"${name}\", R\"attn(${text})attn\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from specs/ by cmake/EmbedSpecs.cmake.
#include \"attn/Spec/Spec.h\"

static constexpr attn::spec::ShippedSpec specs[] = {
${entries}};

llvm::ArrayRef<attn::spec::ShippedSpec> attn::spec::shippedSpecs() {
  return specs;
}
")

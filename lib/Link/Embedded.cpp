//===- Embedded.cpp - Files inside the compiler ---------------------------===//

#include "Embedded.h"

using namespace mlir;
using namespace mlir::hfta;

/// Embeds a file of the folder HFTA_LINK_FILES as the array SYMBOL, which ends
/// at SYMBOL_end.
#define HFTA_EMBED(SYMBOL, FILE)                                               \
  extern "C" const char SYMBOL[], SYMBOL##_end[];                              \
  asm(".pushsection .rodata\n"                                                 \
      ".balign 16\n"                                                           \
      ".globl " #SYMBOL ", " #SYMBOL "_end\n"                                  \
      ".hidden " #SYMBOL ", " #SYMBOL "_end\n" #SYMBOL ":\n"                   \
      ".incbin \"" HFTA_LINK_FILES "/" FILE "\"\n" #SYMBOL "_end:\n"           \
      ".popsection\n")

HFTA_EMBED(hfta_embedded_runtime, "libhfta_runtime.a");
HFTA_EMBED(hfta_embedded_start, "start.o");
#if HFTA_LINK_STUBS
HFTA_EMBED(hfta_embedded_libgcc, "libgcc.a");
HFTA_EMBED(hfta_embedded_libc, "libc.so.6");
HFTA_EMBED(hfta_embedded_libm, "libm.so.6");
HFTA_EMBED(hfta_embedded_libdl, "libdl.so.2");
HFTA_EMBED(hfta_embedded_libpthread, "libpthread.so.0");
HFTA_EMBED(hfta_embedded_ld, "ld-linux-x86-64.so.2");
#endif

#define HFTA_EMBEDDED(SYMBOL)                                                  \
  llvm::StringRef(SYMBOL, static_cast<size_t>(SYMBOL##_end - SYMBOL))

llvm::StringRef hfta::getRuntimeArchive() {
  return HFTA_EMBEDDED(hfta_embedded_runtime);
}

llvm::StringRef hfta::getStartObject() {
  return HFTA_EMBEDDED(hfta_embedded_start);
}

llvm::StringRef hfta::getLibgccArchive() {
#if HFTA_LINK_STUBS
  return HFTA_EMBEDDED(hfta_embedded_libgcc);
#else
  return "";
#endif
}

llvm::ArrayRef<llvm::StringRef> hfta::getStubLibraries() {
#if HFTA_LINK_STUBS
  static const llvm::StringRef stubs[] = {
      HFTA_EMBEDDED(hfta_embedded_libc), HFTA_EMBEDDED(hfta_embedded_libm),
      HFTA_EMBEDDED(hfta_embedded_libdl),
      HFTA_EMBEDDED(hfta_embedded_libpthread), HFTA_EMBEDDED(hfta_embedded_ld)};
  return stubs;
#else
  return {};
#endif
}

//===- Options.h - The sanitizers' options for fuzz targets -----*- C++ -*-===//
//
// Included once by every target.
//===----------------------------------------------------------------------===//

#ifndef HFTA_FUZZ_OPTIONS_H
#define HFTA_FUZZ_OPTIONS_H

// LLVM's libraries are built without sanitizers: their allocators would be
// mistrusted.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

extern "C" const char *__ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}

#endif // HFTA_FUZZ_OPTIONS_H

//===- Link.h - Links compiled code to programs -----------------*- C++ -*-===//

#ifndef HFTA_LINK_LINK_H
#define HFTA_LINK_LINK_H

#include "Hfta/Support/TemporaryFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::hfta {

/// Who links a program.
enum class Linker {
  /// LLVM's linker, which is part of the compiler (Lld.h). It needs nothing of
  /// the machine, and its programs need no newer glibc than 2.28.
  lld,
  /// A C compiler on the path, with the C library of this machine.
  cc
};

/// Returns the name of a linker, as the option --linker has it.
llvm::StringRef getName(Linker linker);

/// Returns the linkers that this process can use; the first is the default one.
llvm::SmallVector<Linker, 2> getLinkers();

/// Returns an error if a linker's program is missing.
llvm::Error checkLinker(Linker linker);

/// Links object files, given by their contents, and the runtime to the program
/// `output`.
llvm::Error linkProgram(llvm::ArrayRef<std::string> objects,
                        llvm::StringRef output, Linker linker);

/// Links object files, given by their contents, to a shared library without the
/// runtime, by the default linker. The error is "cannot WORK: …".
llvm::Expected<TemporaryFile>
linkSharedLibrary(llvm::ArrayRef<std::string> objects, llvm::StringRef work);

} // namespace mlir::hfta

#endif // HFTA_LINK_LINK_H

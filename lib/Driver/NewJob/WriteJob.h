//===- WriteJob.h - A job for a model and data files ------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_NEWJOB_WRITEJOB_H
#define HFTA_LIB_DRIVER_NEWJOB_WRITEJOB_H

#include "Hfta/Support/ExitCode.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta {

/// Makes the text of a job that trains the ONNX model `model` on the data files
/// `files`, for a job file called `output`. What neither the model nor the data
/// say, such as the learning rate, gets a usual value; comments say what was
/// decided. Returns another code than `done` after an error message.
ExitCode writeJob(llvm::StringRef model, llvm::ArrayRef<llvm::StringRef> files,
                  llvm::StringRef output, llvm::raw_ostream &errors,
                  std::string &text);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_NEWJOB_WRITEJOB_H

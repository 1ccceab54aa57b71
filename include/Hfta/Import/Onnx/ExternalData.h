//===- ExternalData.h - Files beside an ONNX model --------------*- C++ -*-===//

#ifndef HFTA_IMPORT_ONNX_EXTERNALDATA_H
#define HFTA_IMPORT_ONNX_EXTERNALDATA_H

#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Returns the paths of the files beside an ONNX model that hold elements of
/// its tensors (ONNX's external data). Returns an empty list if `path` isn't an
/// ONNX model. Reads the whole file `path`.
std::vector<std::string> getExternalDataFiles(llvm::StringRef path);

} // namespace mlir::hfta

#endif // HFTA_IMPORT_ONNX_EXTERNALDATA_H

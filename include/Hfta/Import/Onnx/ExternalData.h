//===- ExternalData.h - Files beside an ONNX model --------------*- C++ -*-===//

#ifndef HFTA_IMPORT_ONNX_EXTERNALDATA_H
#define HFTA_IMPORT_ONNX_EXTERNALDATA_H

#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Returns the paths of the files that hold elements of a model's tensors,
/// which ONNX calls external data; none if `path` is no model. Reads the whole
/// file.
std::vector<std::string> getExternalDataFiles(llvm::StringRef path);

} // namespace mlir::hfta

#endif // HFTA_IMPORT_ONNX_EXTERNALDATA_H

//===- onnx_writer.h - Trained models as ONNX files -------------*- C -*-===//
//
// Writes an ONNX file: a hfta_export_template (program.h), completed with
// tensors. Format: onnx.proto3 of github.com/onnx/onnx: ModelProto.graph is
// field 7, GraphProto.initializer field 5, TensorProto has dims 1, data_type 2,
// name 8 and raw_data 9. The file is streamed, with a small buffer whatever the
// model's size.
//===----------------------------------------------------------------------===//

#ifndef HFTA_ONNX_WRITER_H
#define HFTA_ONNX_WRITER_H

#include "hfta/program.h"
#include "hfta/status.h"
#include "hfta/tensor_view.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A source of the bytes of tensors whose views have no data.
typedef struct hfta_tensor_source {
  /// Reads `bytes` bytes, from `offset` on, of the tensor at `index` in the
  /// list of written tensors.
  hfta_status (*read)(void *argument, size_t index, uint64_t offset, void *to,
                      uint64_t bytes, hfta_error *error);
  void *argument;
} hfta_tensor_source;

/// Writes the model completely or not at all: to a temporary file next to
/// `path`, which is synced, then renamed. The tensors become initializers of
/// the template's graph, in the given order. `source` may be NULL if all views
/// have data. HFTA_UNSUPPORTED if the template is empty, or if the file would
/// exceed 2 GiB, which protobuf can't read.
hfta_status
hfta_onnx_write(const char *path, const hfta_export_template *export_template,
                const hfta_tensor_view *tensors, size_t tensor_count,
                const hfta_tensor_source *source, hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_ONNX_WRITER_H

//===- onnx_writer.c - Trained models as ONNX files -----------------------===//

#include "hfta/onnx_writer.h"

#include "system/file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Tags of protobuf fields, each followed by the field's value. A tag is number
// << 3 | wire type, written as a varint. The value of wire type 0 is a varint;
// that of wire type 2 is a length as a varint, then as many bytes. Source:
// protobuf.dev/programming-guides/encoding.
enum {
  MODEL_GRAPH = 7 << 3 | 2,
  GRAPH_INITIALIZER = 5 << 3 | 2,
  TENSOR_DIMS = 1 << 3 | 0,
  TENSOR_DATA_TYPE = 2 << 3 | 0,
  TENSOR_NAME = 8 << 3 | 2,
  TENSOR_RAW_DATA = 9 << 3 | 2,
  MAX_VARINT_BYTES = 10,
  PIECE = 1 << 20 ///< bytes that are read at once from a tensor source
};

/// Returns the type's number in ONNX's enum TensorProto.DataType.
static uint64_t data_type_of(hfta_element_type type) {
  switch (type) {
  case HFTA_F32:
    return 1;
  case HFTA_U8:
    return 2;
  case HFTA_I8:
    return 3;
  case HFTA_U16:
    return 4;
  case HFTA_I16:
    return 5;
  case HFTA_I32:
    return 6;
  case HFTA_I64:
    return 7;
  case HFTA_BOOL:
    return 9;
  case HFTA_F16:
    return 10;
  case HFTA_F64:
    return 11;
  case HFTA_BF16:
    return 16;
  }
  return 0;
}

/// A destination of bytes, which counts them and, if it has an output, writes
/// them. A model is put into sinks twice: first to count, because in protobuf a
/// message's length precedes its contents.
typedef struct byte_sink {
  hfta_output *output; ///< NULL to count bytes without writing them
  const hfta_tensor_source *source;
  char *piece; ///< a buffer of PIECE bytes for reading from `source`
  uint64_t bytes;
  hfta_status status;
  hfta_error *error;
} byte_sink;

static void put(byte_sink *sink, const void *bytes, uint64_t size) {
  if (__builtin_add_overflow(sink->bytes, size, &sink->bytes))
    sink->bytes = UINT64_MAX;
  if (sink->output && sink->status == HFTA_OK)
    sink->status = hfta_output_write(sink->output, bytes, size, sink->error);
}

/// Puts the bytes of tensor number `index`, which are read from the source in
/// pieces.
static void put_from_source(byte_sink *sink, size_t index, uint64_t bytes) {
  if (!sink->output) {
    put(sink, NULL, bytes);
    return;
  }
  for (uint64_t at = 0; at < bytes && sink->status == HFTA_OK; at += PIECE) {
    uint64_t part = bytes - at < PIECE ? bytes - at : PIECE;
    sink->status = sink->source->read(sink->source->argument, index, at,
                                      sink->piece, part, sink->error);
    put(sink, sink->piece, part);
  }
}

static void put_varint(byte_sink *sink, uint64_t value) {
  unsigned char bytes[MAX_VARINT_BYTES];
  size_t length = 0;
  while (value >= 0x80) {
    bytes[length++] = (unsigned char)(value | 0x80);
    value >>= 7;
  }
  bytes[length++] = (unsigned char)value;
  put(sink, bytes, length);
}

static void put_tensor(byte_sink *sink, const hfta_tensor_view *tensor,
                       size_t index) {
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    put_varint(sink, TENSOR_DIMS);
    put_varint(sink, (uint64_t)tensor->shape[i]);
  }
  put_varint(sink, TENSOR_DATA_TYPE);
  put_varint(sink, data_type_of(tensor->type));
  size_t name_length = strlen(tensor->name);
  put_varint(sink, TENSOR_NAME);
  put_varint(sink, name_length);
  put(sink, tensor->name, name_length);
  put_varint(sink, TENSOR_RAW_DATA);
  put_varint(sink, tensor->bytes);
  if (tensor->data)
    put(sink, tensor->data, tensor->bytes);
  else
    put_from_source(sink, index, tensor->bytes);
}

static uint64_t tensor_length(const hfta_tensor_view *tensor) {
  byte_sink counter = {0};
  put_tensor(&counter, tensor, 0);
  return counter.bytes;
}

static void put_initializers(byte_sink *sink, const hfta_tensor_view *tensors,
                             size_t count) {
  for (size_t i = 0; i < count; ++i) {
    put_varint(sink, GRAPH_INITIALIZER);
    put_varint(sink, tensor_length(&tensors[i]));
    put_tensor(sink, &tensors[i], i);
  }
}

static void put_model(byte_sink *sink, const hfta_export_template *template,
                      uint64_t graph_length, const hfta_tensor_view *tensors,
                      size_t count) {
  put(sink, template->header, template->header_bytes);
  put_varint(sink, MODEL_GRAPH);
  put_varint(sink, graph_length);
  put(sink, template->graph, template->graph_bytes);
  put_initializers(sink, tensors, count);
}

static hfta_status check_tensors(const char *path,
                                 const hfta_tensor_view *tensors, size_t count,
                                 hfta_error *error) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t bytes;
    if (!hfta_shape_bytes(tensors[i].type, tensors[i].shape, tensors[i].rank,
                          &bytes) ||
        bytes != tensors[i].bytes)
      return hfta_fail(error, HFTA_INTERNAL,
                       "cannot write '%s': shape and bytes of '%s' differ",
                       path, tensors[i].name);
  }
  return HFTA_OK;
}

hfta_status
hfta_onnx_write(const char *path, const hfta_export_template *export_template,
                const hfta_tensor_view *tensors, size_t tensor_count,
                const hfta_tensor_source *source, hfta_error *error) {
  if (!export_template->header || !export_template->graph)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "cannot write '%s': the program holds no ONNX model",
                     path);
  hfta_status status = check_tensors(path, tensors, tensor_count, error);
  if (status != HFTA_OK)
    return status;
  byte_sink graph = {.bytes = export_template->graph_bytes};
  put_initializers(&graph, tensors, tensor_count);
  byte_sink model = {0};
  put_model(&model, export_template, graph.bytes, tensors, tensor_count);
  if (model.bytes > INT_MAX)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "cannot write '%s': an ONNX file of %" PRIu64
                     " bytes exceeds protobuf's limit of 2 GiB",
                     path, model.bytes);
  byte_sink file = {
      .source = source, .piece = source ? malloc(PIECE) : NULL, .error = error};
  if (source && !file.piece)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "cannot write '%s': not enough memory", path);
  status = hfta_output_open(path, &file.output, error);
  if (status == HFTA_OK)
    put_model(&file, export_template, graph.bytes, tensors, tensor_count);
  free(file.piece);
  if (status != HFTA_OK)
    return status;
  if (file.status == HFTA_OK)
    return hfta_output_commit(file.output, error);
  hfta_output_discard(file.output);
  return file.status;
}

# HftaOnnxProto: the classes of ONNX's file format, generated from Debian's onnx.proto. Its
# libonnx_proto exists only as a shared library, which static programs can't use. The files
# have the names that onnx/onnx_pb.h includes if ONNX_ML is defined.

find_path(HFTA_ONNX_INCLUDE_DIR onnx/onnx.proto)
if(NOT HFTA_ONNX_INCLUDE_DIR OR NOT EXISTS ${HFTA_ONNX_INCLUDE_DIR}/onnx/onnx_pb.h)
  message(FATAL_ERROR "Hfta needs onnx/onnx.proto and onnx/onnx_pb.h (Debian package "
    "libonnx-dev); run scripts/setup")
endif()

set(folder ${PROJECT_BINARY_DIR}/onnx-proto)
# The file asks for classes without reflection, by which the importer finds fields that are
# newer than this file.
file(READ ${HFTA_ONNX_INCLUDE_DIR}/onnx/onnx.proto text)
string(REPLACE "option optimize_for = LITE_RUNTIME;" "" text "${text}")
file(CONFIGURE OUTPUT ${folder}/onnx/onnx-ml.proto CONTENT "${text}" @ONLY)
add_custom_command(
  OUTPUT ${folder}/onnx/onnx-ml.pb.cc ${folder}/onnx/onnx-ml.pb.h
  COMMAND protobuf::protoc --proto_path=${folder} --cpp_out=${folder} onnx/onnx-ml.proto
  DEPENDS ${folder}/onnx/onnx-ml.proto protobuf::protoc
  VERBATIM)
add_library(HftaOnnxProto STATIC ${folder}/onnx/onnx-ml.pb.cc)
target_include_directories(HftaOnnxProto SYSTEM PUBLIC ${folder} ${HFTA_ONNX_INCLUDE_DIR})
target_compile_definitions(HftaOnnxProto PUBLIC ONNX_NAMESPACE=onnx ONNX_ML=1)
target_compile_options(HftaOnnxProto PRIVATE -w)
target_link_libraries(HftaOnnxProto PUBLIC protobuf::libprotobuf)

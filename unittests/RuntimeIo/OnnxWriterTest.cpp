//===- OnnxWriterTest.cpp - Trained models as ONNX files ------------------===//

#include "hfta/onnx_writer.h"

#include "TestFiles.h"

using namespace hfta_test;

namespace {

class OnnxWriterTest : public FileTest {
protected:
  std::string save(const hfta_export_template &model,
                   const std::vector<hfta_tensor_view> &tensors,
                   const std::string &file,
                   const hfta_tensor_source *source = nullptr) const {
    hfta_error error;
    hfta_status status = hfta_onnx_write(file.c_str(), &model, tensors.data(),
                                         tensors.size(), source, &error);
    std::string message = describe(status, error);
    size_t at = message.find(file);
    return at == std::string::npos ? message
                                   : message.replace(at, file.size(), "FILE");
  }
};

// In protobuf's encoding, the header is ir_version (field 1) 8; the graph is
// its name (field 2) "g".
const std::string header = "\x08\x08", graph = "\x12\x01g";
const hfta_export_template model = {header.data(), header.size(), graph.data(),
                                    graph.size()};
const int64_t shape[] = {1, 300};

} // namespace

TEST_F(OnnxWriterTest, DataMayComeFromASource) {
  const int64_t many[] = {1 << 19, 3};
  std::string data(std::size_t(3) << 21, 'x');
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i * 7 + (i >> 20));
  const hfta_tensor_view step = {"s", HFTA_I64, 0, nullptr, "abcdefgh", 8};
  hfta_tensor_view weight = {"w", HFTA_F32, 2, many, data.data(), data.size()};
  std::string whole = path("whole.onnx"), read = path("read.onnx");
  ASSERT_EQ(save(model, {step, weight}, whole), "0");
  weight.data = nullptr;
  const hfta_tensor_source source = {
      [](void *argument, size_t index, uint64_t offset, void *to,
         uint64_t bytes, hfta_error *error) {
        auto *from = static_cast<std::string *>(argument);
        if (index != 1 || from->empty())
          return hfta_fail(error, HFTA_CANNOT_WRITE, "nothing is there");
        from->copy(static_cast<char *>(to), bytes, offset);
        return HFTA_OK;
      },
      &data};
  ASSERT_EQ(save(model, {step, weight}, read, &source), "0");
  EXPECT_EQ(readFile(read), readFile(whole));
  data.clear();
  EXPECT_EQ(save(model, {step, weight}, path("none.onnx"), &source),
            "4: nothing is there");
}

TEST_F(OnnxWriterTest, ExactBytes) {
  std::string data(1200, 'x');
  hfta_tensor_view weight = {"w", HFTA_F32, 2, shape, data.data(), 1200};
  hfta_tensor_view step = {"s", HFTA_I64, 0, nullptr, "abcdefgh", 8};
  std::string file = path("a.onnx");
  ASSERT_EQ(save(model, {weight, step}, file), "0");
  // In protobuf's encoding, the first tensor has the dims 1 and 300, data_type
  // FLOAT, name, and raw_data.
  std::string first = std::string("\x08\x01\x08\xAC\x02\x10\x01\x42\x01w\x4A"
                                  "\xB0\x09") +
                      data;
  std::string second = "\x10\x07\x42\x01s\x4A\x08"
                       "abcdefgh";
  std::string inner = graph + "\x2A\xBD\x09" + first + "\x2A\x0F" + second;
  EXPECT_EQ(first.size(), 1213u);
  EXPECT_EQ(inner.size(), 1236u);
  EXPECT_EQ(readFile(file), header + "\x3A\xD4\x09" + inner);
  EXPECT_EQ(list(), std::vector<std::string>{"a.onnx"});
}

TEST_F(OnnxWriterTest, Refusals) {
  std::string file = path("a.onnx");
  EXPECT_EQ(save({nullptr, 0, nullptr, 0}, {}, file),
            "3: cannot write 'FILE': the program holds no ONNX model");
  hfta_tensor_view tensor = {"w", HFTA_F32, 2, shape, "", 3};
  EXPECT_EQ(save(model, {tensor}, file),
            "70: cannot write 'FILE': shape and bytes of 'w' differ");
  EXPECT_EQ(save(model, {}, "/dev/full"),
            "4: cannot write 'FILE': No space left on device");
  EXPECT_TRUE(list().empty());
}

TEST_F(OnnxWriterTest, TwoGigabytes) {
  // The writer refuses by the sizes alone, so no data of this size are needed.
  const int64_t large[] = {int64_t{1} << 31};
  hfta_tensor_view tensor = {"w", HFTA_U8, 1, large, "", uint64_t{1} << 31};
  EXPECT_EQ(save(model, {tensor}, path("a.onnx")),
            "3: cannot write 'FILE': an ONNX file of 2147483682 bytes exceeds "
            "protobuf's limit of 2 GiB");
  EXPECT_TRUE(list().empty());
}

//===- OnnxMutator.cpp - Mutations of ONNX models -------------------------===//
//
// Random changes of bytes seldom result in a valid protobuf message. So three
// of four mutations parse the model, change some of its fields, and serialize
// it again.
//===----------------------------------------------------------------------===//

#include "Hfta/Import/Onnx/Import.h"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// Changes fields of a model's messages at random.
class ModelMutator {
public:
  ModelMutator(::onnx::ModelProto &model, unsigned seed) : random(seed) {
    collect(model);
  }

  /// Makes one change. Afterwards the mutator mustn't be used again, as its
  /// list of messages may be out of date.
  void mutate();

private:
  /// Returns a random number below `count`.
  size_t pick(size_t count) { return random() % count; }
  /// Appends a message and all messages in it to `messages`, and their strings
  /// to `strings`.
  void collect(Message &message);
  // The following functions make a new value of a field; `old` is its value.
  int64_t makeInteger(uint64_t old);
  float makeFloat();
  std::string makeString(const FieldDescriptor *field, std::string old);
  /// Returns a copy of a random message of this kind in the model. Returns null
  /// if 20 random messages are of other kinds.
  std::unique_ptr<Message> copyAny(const google::protobuf::Descriptor *kind);
  void mutateSingular(Message &message, const FieldDescriptor *field);
  void mutateRepeated(Message &message, const FieldDescriptor *field);
  void addElement(Message &message, const FieldDescriptor *field);

  std::minstd_rand random;
  std::vector<Message *> messages;  ///< all messages in the model
  std::vector<std::string> strings; ///< all of their strings
};

} // namespace

void ModelMutator::collect(Message &message) {
  messages.push_back(&message);
  const Reflection *reflection = message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor *field : fields) {
    int count =
        field->is_repeated() ? reflection->FieldSize(message, field) : 0;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      for (int index = 0; index < count; ++index)
        collect(*reflection->MutableRepeatedMessage(&message, field, index));
      if (!field->is_repeated())
        collect(*reflection->MutableMessage(&message, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      for (int index = 0; index < count; ++index)
        strings.push_back(reflection->GetRepeatedString(message, field, index));
      if (!field->is_repeated())
        strings.push_back(reflection->GetString(message, field));
    }
  }
}

int64_t ModelMutator::makeInteger(uint64_t old) {
  const uint64_t values[] = {old + 1,
                             old - 1,
                             -old,
                             old * 2,
                             0,
                             uint64_t(-1),
                             1,
                             2,
                             3,
                             7,
                             255,
                             uint64_t(1) << 31,
                             uint64_t(1) << 40,
                             (uint64_t(1) << 63) - 1,
                             uint64_t(1) << 63};
  return static_cast<int64_t>(values[pick(std::size(values))]);
}

float ModelMutator::makeFloat() {
  const float values[] = {
      0,    -1,       0.5f, 1e30f,
      1e9f, INFINITY, NAN,  std::numeric_limits<float>::min()};
  return values[pick(std::size(values))];
}

std::string ModelMutator::makeString(const FieldDescriptor *field,
                                     std::string old) {
  static const std::vector<mlir::hfta::OnnxSupportedOp> ops =
      mlir::hfta::getSupportedOnnxOps();
  if (field->name() == "op_type")
    return ops[pick(ops.size())].name.str();
  if (!strings.empty() && pick(4) != 0)
    return strings[pick(strings.size())];
  size_t size = old.size();
  old.resize(size + 16);
  old.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(old.data()), size,
                              old.size()));
  return old;
}

std::unique_ptr<Message>
ModelMutator::copyAny(const google::protobuf::Descriptor *kind) {
  for (int tries = 0; tries < 20; ++tries) {
    const Message *message = messages[pick(messages.size())];
    if (message->GetDescriptor() != kind)
      continue;
    std::unique_ptr<Message> copy(message->New());
    copy->CopyFrom(*message);
    return copy;
  }
  return nullptr;
}

void ModelMutator::mutateSingular(Message &message,
                                  const FieldDescriptor *field) {
  const Reflection *reflection = message.GetReflection();
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return reflection->SetInt32(
        &message, field, makeInteger(reflection->GetInt32(message, field)));
  case FieldDescriptor::CPPTYPE_INT64:
    return reflection->SetInt64(
        &message, field, makeInteger(reflection->GetInt64(message, field)));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return reflection->SetFloat(&message, field, makeFloat());
  case FieldDescriptor::CPPTYPE_ENUM:
    return reflection->SetEnumValue(&message, field, pick(16));
  case FieldDescriptor::CPPTYPE_STRING:
    return reflection->SetString(
        &message, field,
        makeString(field, reflection->GetString(message, field)));
  case FieldDescriptor::CPPTYPE_MESSAGE: {
    // Copy the other message first, because it may be part of the message that
    // is overwritten.
    std::unique_ptr<Message> copy = copyAny(field->message_type());
    Message *inner = reflection->MutableMessage(&message, field);
    if (copy)
      inner->CopyFrom(*copy);
    return;
  }
  default:
    return;
  }
}

void ModelMutator::addElement(Message &message, const FieldDescriptor *field) {
  const Reflection *reflection = message.GetReflection();
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return reflection->AddInt32(&message, field, makeInteger(1));
  case FieldDescriptor::CPPTYPE_INT64:
    return reflection->AddInt64(&message, field, makeInteger(1));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return reflection->AddFloat(&message, field, makeFloat());
  case FieldDescriptor::CPPTYPE_STRING:
    return reflection->AddString(&message, field, makeString(field, ""));
  case FieldDescriptor::CPPTYPE_MESSAGE: {
    std::unique_ptr<Message> copy = copyAny(field->message_type());
    Message *added = reflection->AddMessage(&message, field);
    if (copy)
      added->CopyFrom(*copy);
    return;
  }
  default:
    return;
  }
}

void ModelMutator::mutateRepeated(Message &message,
                                  const FieldDescriptor *field) {
  const Reflection *reflection = message.GetReflection();
  int count = reflection->FieldSize(message, field);
  size_t kind = pick(4);
  if (count == 0 || kind == 0)
    return addElement(message, field);
  if (kind == 1)
    return reflection->SwapElements(&message, field, pick(count), count - 1);
  if (kind == 2)
    return reflection->RemoveLast(&message, field);
  int index = pick(count);
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64)
    reflection->SetRepeatedInt64(
        &message, field, index,
        makeInteger(reflection->GetRepeatedInt64(message, field, index)));
  else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
    reflection->SetRepeatedString(
        &message, field, index,
        makeString(field,
                   reflection->GetRepeatedString(message, field, index)));
}

void ModelMutator::mutate() {
  Message &message = *messages[pick(messages.size())];
  const auto *descriptor = message.GetDescriptor();
  std::vector<const FieldDescriptor *> fields;
  message.GetReflection()->ListFields(message, &fields);
  // Choose a field that is set with a probability of 3/4, or else any field.
  const FieldDescriptor *field =
      !fields.empty() && pick(4) != 0
          ? fields[pick(fields.size())]
          : descriptor->field(pick(descriptor->field_count()));
  if (field->is_repeated())
    mutateRepeated(message, field);
  else if (pick(8) == 0)
    message.GetReflection()->ClearField(&message, field);
  else
    mutateSingular(message, field);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  ::onnx::ModelProto model;
  if (seed % 4 == 0 || !model.ParsePartialFromArray(data, size))
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned round = 0; round <= seed / 4 % 3; ++round)
    ModelMutator(model, seed + round).mutate();
  std::string bytes = model.SerializePartialAsString();
  if (bytes.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

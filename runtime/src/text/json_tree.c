//===- json_tree.c - JSON values in memory --------------------------------===//

#include "text/json_tree.h"

#include "hfta/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A piece of memory, from which values and strings are taken in order.
typedef struct hfta_json_block {
  struct hfta_json_block *next;
  size_t used, size;
  max_align_t bytes[];
} hfta_json_block;

enum { BLOCK_BYTES = 1 << 16 };

/// Returns memory of the tree, or NULL.
static void *take(hfta_json_tree *tree, size_t bytes) {
  bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
          sizeof(max_align_t);
  hfta_json_block *block = tree->blocks;
  if (!block || block->size - block->used < bytes) {
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    block = malloc(sizeof(*block) + size);
    if (!block)
      return NULL;
    block->next = tree->blocks;
    block->used = 0;
    block->size = size;
    tree->blocks = block;
  }
  void *out = (char *)block->bytes + block->used;
  block->used += bytes;
  return out;
}

void hfta_json_tree_free(hfta_json_tree *tree) {
  while (tree->blocks) {
    hfta_json_block *next = tree->blocks->next;
    free(tree->blocks);
    tree->blocks = next;
  }
}

static char *copy_string(hfta_json_tree *tree, const hfta_json_reader *reader) {
  char *copy = take(tree, reader->string_length + 1);
  if (!copy)
    return NULL;
  memcpy(copy, reader->string, reader->string_length);
  copy[reader->string_length] = '\0';
  return copy;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// A text that is being parsed.
typedef struct parser {
  hfta_json_tree *tree;
  hfta_json_reader reader;
  const char *problem;
} parser;

static hfta_json_value *fail(parser *self, const char *problem) {
  if (!self->problem)
    self->problem = problem;
  return NULL;
}

static hfta_json_value *parse_value(parser *self, hfta_json_event event,
                                    const char *key);

/// Reads the rest of an array or object into `out`.
static hfta_json_value *parse_children(parser *self, hfta_json_value *out) {
  bool is_object = out->kind == HFTA_JSON_KIND_OBJECT;
  hfta_json_event end = is_object ? HFTA_JSON_END_OBJECT : HFTA_JSON_END_ARRAY;
  hfta_json_value **last = &out->first;
  for (hfta_json_event event; (event = hfta_json_next(&self->reader)) != end;) {
    const char *key = NULL;
    if (is_object && event == HFTA_JSON_KEY) {
      key = copy_string(self->tree, &self->reader);
      if (!key)
        return fail(self, "not enough memory");
      event = hfta_json_next(&self->reader);
    }
    *last = parse_value(self, event, key);
    if (!*last)
      return NULL;
    last = &(*last)->next;
    ++out->count;
  }
  return out;
}

/// Reads the value that begins with `event`. The reader bounds the depth.
static hfta_json_value *parse_value(parser *self, hfta_json_event event,
                                    const char *key) {
  hfta_json_value *out = take(self->tree, sizeof(*out));
  if (!out)
    return fail(self, "not enough memory");
  *out = (hfta_json_value){.key = key};
  switch (event) {
  case HFTA_JSON_BEGIN_OBJECT:
    out->kind = HFTA_JSON_KIND_OBJECT;
    return parse_children(self, out);
  case HFTA_JSON_BEGIN_ARRAY:
    out->kind = HFTA_JSON_KIND_ARRAY;
    return parse_children(self, out);
  case HFTA_JSON_STRING:
    out->kind = HFTA_JSON_KIND_STRING;
    out->text = copy_string(self->tree, &self->reader);
    return out->text ? out : fail(self, "not enough memory");
  case HFTA_JSON_INTEGER:
  case HFTA_JSON_NUMBER:
    out->kind = HFTA_JSON_KIND_NUMBER;
    out->number = self->reader.number;
    return out;
  case HFTA_JSON_TRUE:
  case HFTA_JSON_FALSE:
    out->kind = HFTA_JSON_KIND_BOOLEAN;
    out->number = event == HFTA_JSON_TRUE;
    return out;
  case HFTA_JSON_NULL:
    return out;
  default:
    return fail(self, self->reader.problem ? self->reader.problem
                                           : "a value is missing");
  }
}

const hfta_json_value *hfta_json_parse(hfta_json_tree *tree, const char *text,
                                       size_t size, const char **problem) {
  hfta_json_tree_free(tree);
  parser self = {.tree = tree};
  hfta_json_read(&self.reader, text, size);
  const hfta_json_value *value =
      parse_value(&self, hfta_json_next(&self.reader), NULL);
  if (value && hfta_json_next(&self.reader) != HFTA_JSON_END)
    value = fail(&self, self.reader.problem ? self.reader.problem
                                            : "text follows the value");
  hfta_json_read_end(&self.reader);
  *problem = self.problem;
  return value;
}

//===----------------------------------------------------------------------===//
// Looking up
//===----------------------------------------------------------------------===//

const hfta_json_value *hfta_json_get(const hfta_json_value *value,
                                     const char *key) {
  const hfta_json_value *found = NULL;
  if (!value || value->kind != HFTA_JSON_KIND_OBJECT)
    return NULL;
  for (const hfta_json_value *at = value->first; at; at = at->next)
    if (at->key && strcmp(at->key, key) == 0)
      found = at;
  return found;
}

const char *hfta_json_get_text(const hfta_json_value *value, const char *key) {
  const hfta_json_value *entry = hfta_json_get(value, key);
  return entry && entry->kind == HFTA_JSON_KIND_STRING ? entry->text : NULL;
}

int64_t hfta_json_get_integer(const hfta_json_value *value, const char *key,
                              int64_t otherwise) {
  const hfta_json_value *entry = hfta_json_get(value, key);
  if (!entry || entry->kind != HFTA_JSON_KIND_NUMBER ||
      entry->number != floor(entry->number) || fabs(entry->number) > 0x1p53)
    return otherwise;
  return (int64_t)entry->number;
}

bool hfta_json_take_number(const hfta_json_value *value, double *out) {
  if (value->kind == HFTA_JSON_KIND_NUMBER) {
    *out = value->number;
    return true;
  }
  if (value->kind != HFTA_JSON_KIND_STRING)
    return false;
  if (strcmp(value->text, "nan") == 0)
    *out = NAN;
  else if (strcmp(value->text, "inf") == 0)
    *out = INFINITY;
  else if (strcmp(value->text, "-inf") == 0)
    *out = -INFINITY;
  else
    return false;
  return true;
}

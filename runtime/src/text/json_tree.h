//===- json_tree.h - JSON values in memory ------------------------*- C -*-===//
//
// Private to the runtime. For lines of logs, whose keys come in any order. Not
// for long files: a value takes some 60 bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TEXT_JSON_TREE_H
#define HFTA_SRC_TEXT_JSON_TREE_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hfta_json_kind {
  HFTA_JSON_KIND_NULL,
  HFTA_JSON_KIND_BOOLEAN, ///< `number` is 0 or 1
  HFTA_JSON_KIND_NUMBER,
  HFTA_JSON_KIND_STRING,
  HFTA_JSON_KIND_ARRAY,
  HFTA_JSON_KIND_OBJECT
} hfta_json_kind;

/// A value. Everything belongs to its tree.
typedef struct hfta_json_value {
  hfta_json_kind kind;
  double number;
  const char *text; ///< a string's, with a final 0; a 0 within it ends it
  const char *key;  ///< an entry's of an object; else NULL
  int64_t count;    ///< the number of elements or entries
  struct hfta_json_value *first; ///< the first of these
  struct hfta_json_value *next;  ///< the next one of the same array or object
} hfta_json_value;

/// The memory of values. Begins as all zeros.
typedef struct hfta_json_tree {
  struct hfta_json_block *blocks;
} hfta_json_tree;

/// Parses a text of `size` bytes. Returns the value, which lives until the next
/// call or hfta_json_tree_free; NULL if the text is no JSON or if memory runs
/// out, and sets `*problem` to what is wrong, a static text.
const hfta_json_value *hfta_json_parse(hfta_json_tree *tree, const char *text,
                                       size_t size, const char **problem);

/// Returns the entry of this key; NULL if there is none, or if `value` is NULL
/// or no object. Of several entries the last one counts.
const hfta_json_value *hfta_json_get(const hfta_json_value *value,
                                     const char *key);

/// Returns an entry's text; NULL if it is no string.
const char *hfta_json_get_text(const hfta_json_value *value, const char *key);

/// Returns an entry's whole number; `otherwise` if it is none of at most 2^53.
int64_t hfta_json_get_integer(const hfta_json_value *value, const char *key,
                              int64_t otherwise);

/// Takes a number, or a string that stands for one that isn't finite: "nan",
/// "inf" or "-inf". Returns false for any other value.
bool hfta_json_take_number(const hfta_json_value *value, double *out);

void hfta_json_tree_free(hfta_json_tree *tree);

#endif // HFTA_SRC_TEXT_JSON_TREE_H

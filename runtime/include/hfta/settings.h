//===- settings.h - A program's record of its job's settings ------*- C -*-===//
//
// The compiler's records of settings (docs/adding-a-setting.md) fill the table
// of hfta_setting, from which the program reports its job. The values that it
// computes with are also members of hfta_program. All of this is constant data
// inside the binary; arrays hold one value per copy.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SETTINGS_H
#define HFTA_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hfta_setting_type {
  HFTA_SETTING_INTEGER = 0,       ///< `value`
  HFTA_SETTING_FLAG = 1,          ///< `value`, 0 or 1
  HFTA_SETTING_NUMBERS = 2,       ///< `values` are double
  HFTA_SETTING_WHOLE_NUMBERS = 3, ///< `values` are int64_t
  HFTA_SETTING_COUNTS = 4 ///< `values` are `value` int64_t, common to all
                          ///< copies
} hfta_setting_type;

typedef struct hfta_setting {
  const char *name; ///< the name in the job
  uint32_t type;    ///< hfta_setting_type
  uint32_t reserved;
  int64_t value;      ///< one value for all copies
  const void *values; ///< one value per copy; NULL: not given
} hfta_setting;

/// A hyper-parameter, with one value per copy.
typedef struct hfta_hyper_parameter {
  const char *name;     ///< "lr", "weight_decay", "dropout_rate"
  const double *values; ///< hfta_program.copies values
} hfta_hyper_parameter;

/// Learning-rate schedules; each is applied to the copy's own "lr".
/// HFTA_LEARNING_RATE(identifier, number, name in jobs)
#define HFTA_LEARNING_RATES                                                    \
  HFTA_LEARNING_RATE(CONSTANT, 0, "constant")                                  \
  /* lr * gamma ^ floor(step / step_size) */                                   \
  HFTA_LEARNING_RATE(STEP, 1, "step")                                          \
  /* from lr to lr * minimum over the training */                              \
  HFTA_LEARNING_RATE(COSINE, 2, "cosine")

typedef enum hfta_learning_rate_kind {
#define HFTA_LEARNING_RATE(identifier, number, name)                           \
  HFTA_LEARNING_RATE_##identifier = number,
  HFTA_LEARNING_RATES
#undef HFTA_LEARNING_RATE
} hfta_learning_rate_kind;

/// A learning-rate schedule; its arrays hold one value per copy. With s the
/// 0-based step: while s < warmup the rate is lr * (s + 1) / warmup; afterwards
/// the kind's own rule holds, with steps counted from the end of the warm-up.
/// Cosine ends at the last step of the training.
typedef struct hfta_learning_rate {
  uint32_t kind;
  uint32_t reserved;
  const double *warmup;    ///< steps
  const double *step_size; ///< steps (STEP)
  const double *gamma;     ///< factor (STEP)
  const double *minimum;   ///< final rate as a share of lr (COSINE)
} hfta_learning_rate;

/// Formats of data files: HFTA_DATA_FORMAT(identifier, number, name in jobs).
#define HFTA_DATA_FORMATS                                                      \
  /* gzip is recognised by content */                                          \
  HFTA_DATA_FORMAT(IDX, 1, "idx")                                              \
  HFTA_DATA_FORMAT(NPY, 2, "npy")                                              \
  /* `column` is the first one of a sample, the others follow it */            \
  HFTA_DATA_FORMAT(CSV, 3, "csv")                                              \
  /* samples one after another, no header */                                   \
  HFTA_DATA_FORMAT(RAW, 4, "raw")

typedef enum hfta_data_format {
  HFTA_DATA_NONE = 0,
#define HFTA_DATA_FORMAT(identifier, number, name)                             \
  HFTA_DATA_##identifier = number,
  HFTA_DATA_FORMATS
#undef HFTA_DATA_FORMAT
} hfta_data_format;

/// Whether line 1 of a csv file is a header: HFTA_CSV_HEADER(identifier,
/// number, name in jobs).
#define HFTA_CSV_HEADERS                                                       \
  /* it is one if the first field taken from it is no number */                \
  HFTA_CSV_HEADER(AUTO, 0, "auto")                                             \
  HFTA_CSV_HEADER(PRESENT, 1, "true")                                          \
  HFTA_CSV_HEADER(ABSENT, 2, "false")

typedef enum hfta_csv_header {
#define HFTA_CSV_HEADER(identifier, number, name)                              \
  HFTA_CSV_HEADER_##identifier = number,
  HFTA_CSV_HEADERS
#undef HFTA_CSV_HEADER
} hfta_csv_header;

typedef struct hfta_data_source {
  uint32_t format; ///< hfta_data_format; NONE if the block has no such file
  uint32_t column; ///< CSV
  uint32_t header; ///< hfta_csv_header; CSV
  uint32_t reserved;
  const char *path; ///< as written in the job
} hfta_data_source;

#ifdef __cplusplus
}
#endif

#endif // HFTA_SETTINGS_H

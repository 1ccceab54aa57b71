//===- settings.h - A program's record of its job's settings ------*- C -*-===//
//
// The table of hfta_setting is filled from the compiler's records of settings
// (docs/adding-a-setting.md). The program uses it to report its job (`info`).
// Values that the program computes with are also members of hfta_program.
// Everything is constant data inside the binary. Arrays hold one value per
// copy.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SETTINGS_H
#define HFTA_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Which members of an hfta_setting hold its value.
typedef enum hfta_setting_type {
  HFTA_SETTING_INTEGER = 0,       ///< `value`, an integer
  HFTA_SETTING_FLAG = 1,          ///< `value`, which is 0 or 1
  HFTA_SETTING_NUMBERS = 2,       ///< `values` points to one double per copy
  HFTA_SETTING_WHOLE_NUMBERS = 3, ///< `values` points to one int64_t per copy
  /// `values` points to numbers of type int64_t that all copies have in common;
  /// `value` is how many there are.
  HFTA_SETTING_COUNTS = 4
} hfta_setting_type;

/// A setting of the job.
typedef struct hfta_setting {
  const char *name; ///< the name in the job
  uint32_t type;    ///< hfta_setting_type
  uint32_t reserved;
  int64_t value;      ///< the value, if all copies have the same
  const void *values; ///< one value per copy, or NULL
} hfta_setting;

/// A hyper-parameter, with one value per copy.
typedef struct hfta_hyper_parameter {
  const char *name; ///< name, such as "lr", "weight_decay" or "dropout_rate"
  /// hfta_program.copies values; NaN for a copy whose optimizer has no such
  /// parameter.
  const double *values;
} hfta_hyper_parameter;

/// The rules by which a number, such as the learning rate, changes from step to
/// step: HFTA_NUMBER_SCHEDULE(identifier, number, name in jobs).
/// number_schedule.h has the formulas.
#define HFTA_NUMBER_SCHEDULES                                                  \
  HFTA_NUMBER_SCHEDULE(CONSTANT, 0, "constant")                                \
  HFTA_NUMBER_SCHEDULE(STEP, 1, "step")                                        \
  HFTA_NUMBER_SCHEDULE(COSINE, 2, "cosine")                                    \
  HFTA_NUMBER_SCHEDULE(MULTI_STEP, 3, "multi_step")                            \
  HFTA_NUMBER_SCHEDULE(EXPONENTIAL, 4, "exponential")                          \
  HFTA_NUMBER_SCHEDULE(POLYNOMIAL, 5, "polynomial")                            \
  HFTA_NUMBER_SCHEDULE(LINEAR, 6, "linear")                                    \
  HFTA_NUMBER_SCHEDULE(COSINE_RESTARTS, 7, "cosine_restarts")                  \
  HFTA_NUMBER_SCHEDULE(ONE_CYCLE, 8, "one_cycle")                              \
  HFTA_NUMBER_SCHEDULE(INVERSE_ROOT, 9, "inverse_root")                        \
  HFTA_NUMBER_SCHEDULE(WSD, 10, "wsd")                                         \
  HFTA_NUMBER_SCHEDULE(PLATEAU, 11, "plateau")                                 \
  HFTA_NUMBER_SCHEDULE(SEQUENCE, 12, "sequence")                               \
  HFTA_NUMBER_SCHEDULE(PRODUCT, 13, "product")

typedef enum hfta_number_schedule_kind {
#define HFTA_NUMBER_SCHEDULE(identifier, number, name)                         \
  HFTA_NUMBER_SCHEDULE_##identifier = number,
  HFTA_NUMBER_SCHEDULES
#undef HFTA_NUMBER_SCHEDULE
} hfta_number_schedule_kind;

/// Choices that schedules have besides numbers, as bits:
/// HFTA_SCHEDULE_OPTION(identifier, bit, name in jobs).
#define HFTA_SCHEDULE_OPTIONS                                                  \
  HFTA_SCHEDULE_OPTION(LINEAR, 1, "linear")                                    \
  HFTA_SCHEDULE_OPTION(COSINE, 2, "cosine")                                    \
  HFTA_SCHEDULE_OPTION(ROOT, 4, "root")                                        \
  HFTA_SCHEDULE_OPTION(THREE_PHASES, 8, "three_phases")                        \
  HFTA_SCHEDULE_OPTION(ABSOLUTE, 16, "absolute")

typedef enum hfta_schedule_option {
#define HFTA_SCHEDULE_OPTION(identifier, bit, name)                            \
  HFTA_SCHEDULE_##identifier = bit,
  HFTA_SCHEDULE_OPTIONS
#undef HFTA_SCHEDULE_OPTION
} hfta_schedule_option;

/// The parameters of schedules that are numbers, as M(s, name).
#define HFTA_SCHEDULE_NUMBERS(M, s)                                            \
  M(s, warmup)                                                                 \
  M(s, step_size)                                                              \
  M(s, gamma)                                                                  \
  M(s, minimum)                                                                \
  M(s, power)                                                                  \
  M(s, start)                                                                  \
  M(s, end)                                                                    \
  M(s, length)                                                                 \
  M(s, period)                                                                 \
  M(s, growth)                                                                 \
  M(s, rise)                                                                   \
  M(s, timescale)                                                              \
  M(s, decay_steps)                                                            \
  M(s, stable_steps)                                                           \
  M(s, factor) M(s, patience) M(s, threshold) M(s, cooldown)

/// How a number changes from step to step. Its arrays hold one value per copy;
/// NULL: the schedule has no such parameter, or it follows from others.
typedef struct hfta_number_schedule {
  uint32_t kind;    ///< hfta_number_schedule_kind
  uint32_t options; ///< bits of hfta_schedule_option
  /// SEQUENCE: the schedules that follow one another. PRODUCT: those whose
  /// factors are multiplied.
  const struct hfta_number_schedule *parts;
  /// MULTI_STEP, SEQUENCE: for each copy, `milestone_count` steps in ascending
  /// order. Infinity if a copy has fewer of them.
  const double *milestones;
  uint32_t part_count;
  uint32_t milestone_count;
#define HFTA_SCHEDULE_NUMBER(s, name) const double *name;
  HFTA_SCHEDULE_NUMBERS(HFTA_SCHEDULE_NUMBER, )
#undef HFTA_SCHEDULE_NUMBER
} hfta_number_schedule;

/// A hyper-parameter that follows a schedule.
typedef struct hfta_scheduled_number {
  /// Index in hfta_program.hyper_parameters.
  uint32_t hyper_parameter;
  uint32_t tensor; ///< the scalar from which kernels read the number in a step
  hfta_number_schedule schedule;
} hfta_scheduled_number;

/// Formats of data files: HFTA_DATA_FORMAT(identifier, number, name in jobs).
#define HFTA_DATA_FORMATS                                                      \
  /* plain or gzip, told apart by content */                                   \
  HFTA_DATA_FORMAT(IDX, 1, "idx")                                              \
  HFTA_DATA_FORMAT(NPY, 2, "npy")                                              \
  /* one sample per line, in consecutive columns */                            \
  HFTA_DATA_FORMAT(CSV, 3, "csv")                                              \
  /* samples one after another, no header */                                   \
  HFTA_DATA_FORMAT(RAW, 4, "raw")                                              \
  /* one of the arrays in an archive of npy files */                           \
  HFTA_DATA_FORMAT(NPZ, 5, "npz")                                              \
  /* one of a file's tensors */                                                \
  HFTA_DATA_FORMAT(SAFETENSORS, 6, "safetensors")                              \
  /* a folder of images for each class */                                      \
  HFTA_DATA_FORMAT(IMAGES, 7, "images")                                        \
  /* the classes of such images */                                             \
  HFTA_DATA_FORMAT(CLASSES, 8, "classes")                                      \
  /* windows of a sequence of numbers */                                       \
  HFTA_DATA_FORMAT(TOKENS, 9, "tokens")

typedef enum hfta_data_format {
  HFTA_DATA_NONE = 0,
#define HFTA_DATA_FORMAT(identifier, number, name)                             \
  HFTA_DATA_##identifier = number,
  HFTA_DATA_FORMATS
#undef HFTA_DATA_FORMAT
} hfta_data_format;

/// Where the samples of a data field come from:
/// HFTA_DATA_FIELD_KIND(identifier, number, name in compiled jobs).
#define HFTA_DATA_FIELD_KINDS                                                  \
  HFTA_DATA_FIELD_KIND(FILE, 0, "file")                                        \
  /* for each sample of the batch, what decides how it is augmented: its index \
     in the data set, the epoch, and the index of the sample's partner, as far \
     as the field has columns */                                               \
  HFTA_DATA_FIELD_KIND(KEYS, 1, "keys")                                        \
  /* for each sample of the batch, another field's value of its partner, the   \
     sample before it in the batch; the last one is the first one's partner */ \
  HFTA_DATA_FIELD_KIND(PARTNERS, 2, "partners")

typedef enum hfta_field_kind {
#define HFTA_DATA_FIELD_KIND(identifier, number, name)                         \
  HFTA_DATA_FIELD_##identifier = number,
  HFTA_DATA_FIELD_KINDS
#undef HFTA_DATA_FIELD_KIND
} hfta_field_kind;

/// Whether line 1 of a csv file is a header: HFTA_CSV_HEADER(identifier,
/// number, name in jobs).
#define HFTA_CSV_HEADERS                                                       \
  /* a header if the first field taken from line 1 is no number */             \
  HFTA_CSV_HEADER(AUTO, 0, "auto")                                             \
  HFTA_CSV_HEADER(PRESENT, 1, "true")                                          \
  HFTA_CSV_HEADER(ABSENT, 2, "false")

typedef enum hfta_csv_header {
#define HFTA_CSV_HEADER(identifier, number, name)                              \
  HFTA_CSV_HEADER_##identifier = number,
  HFTA_CSV_HEADERS
#undef HFTA_CSV_HEADER
} hfta_csv_header;

/// Separators of the columns of a csv file: HFTA_CSV_SEPARATOR(identifier,
/// number, name in jobs, character).
#define HFTA_CSV_SEPARATORS                                                    \
  HFTA_CSV_SEPARATOR(COMMA, 0, "comma", ',')                                   \
  HFTA_CSV_SEPARATOR(SEMICOLON, 1, "semicolon", ';')                           \
  HFTA_CSV_SEPARATOR(TAB, 2, "tab", '\t')                                      \
  HFTA_CSV_SEPARATOR(BAR, 3, "bar", '|')                                       \
  /* any number of spaces and tabs */                                          \
  HFTA_CSV_SEPARATOR(SPACE, 4, "space", ' ')

typedef enum hfta_csv_separator {
#define HFTA_CSV_SEPARATOR(identifier, number, name, character)                \
  HFTA_CSV_SEPARATOR_##identifier = number,
  HFTA_CSV_SEPARATORS
#undef HFTA_CSV_SEPARATOR
} hfta_csv_separator;

/// Ways to treat images of another size than the field's:
/// HFTA_IMAGE_RESIZE(identifier, number, name in jobs).
#define HFTA_IMAGE_RESIZES                                                     \
  /* they are refused */                                                       \
  HFTA_IMAGE_RESIZE(NONE, 0, "none")                                           \
  /* both axes are scaled to the field's size */                               \
  HFTA_IMAGE_RESIZE(STRETCH, 1, "stretch")                                     \
  /* the largest centered part with the field's proportions is scaled */       \
  HFTA_IMAGE_RESIZE(CROP, 2, "crop")

typedef enum hfta_image_resize {
#define HFTA_IMAGE_RESIZE(identifier, number, name)                            \
  HFTA_IMAGE_RESIZE_##identifier = number,
  HFTA_IMAGE_RESIZES
#undef HFTA_IMAGE_RESIZE
} hfta_image_resize;

/// Files of samples, as the job describes them.
typedef struct hfta_data_source {
  uint32_t format;    ///< hfta_data_format; HFTA_DATA_NONE if the data block
                      ///< names no such file
  uint32_t column;    ///< CSV: the first column of a sample, from 0
  uint32_t header;    ///< CSV: hfta_csv_header
  uint32_t separator; ///< CSV: hfta_csv_separator
  const char *path;   ///< path of the first file, as written in the job
  /// Paths of the files whose samples follow those of the first one.
  const char *const *more_paths;
  /// NPZ, SAFETENSORS: the name of the array in each file; else "".
  const char *array;
  /// CSV: the columns of a sample's elements, by their names in the header or
  /// by their numbers. If both are NULL, columns from `column` on are taken.
  const char *const *column_names;
  const int64_t *column_numbers;
  uint32_t more_path_count;
  uint32_t column_count;  ///< the length of the list of columns
  uint32_t resize;        ///< IMAGES: hfta_image_resize
  uint32_t skips_damaged; ///< IMAGES, CLASSES: 1: files that can't be read are
                          ///< left out, instead of being an error
  int64_t cache;  ///< IMAGES: the most bytes of decoded images in memory
  int64_t shift;  ///< TOKENS: the first token of the first window
  int64_t stride; ///< TOKENS: the distance from a window to the next
} hfta_data_source;

/// Returns the number of a source's files.
static inline uint32_t hfta_source_files(const hfta_data_source *source) {
  return source->more_path_count + 1;
}

/// Returns the path of file number `index`, from 0.
static inline const char *hfta_source_path(const hfta_data_source *source,
                                           uint32_t index) {
  return index == 0 ? source->path : source->more_paths[index - 1];
}

#ifdef __cplusplus
}
#endif

#endif // HFTA_SETTINGS_H

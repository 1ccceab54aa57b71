//===- jpeg.c - JPEG images -----------------------------------------------===//
//
// Calls libjpeg-turbo, which is loaded when it is first needed, so that
// programs that read no JPEG images run without it.
//===----------------------------------------------------------------------===//

#include "formats/image.h"

#ifdef HFTA_HAS_JPEG

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/// The file of the library whose structs have the form of the headers.
#define HFTA_STRING(text) #text
#define HFTA_LIBRARY_NAME(version) "libjpeg.so." HFTA_STRING(version)
#if JPEG_LIB_VERSION >= 80
static const char library_name[] = HFTA_LIBRARY_NAME(8);
#else
static const char library_name[] = HFTA_LIBRARY_NAME(62);
#endif

/// Lists the library's functions that are called.
#define HFTA_JPEG_FUNCTIONS(X)                                                 \
  X(jpeg_std_error)                                                            \
  X(jpeg_CreateDecompress)                                                     \
  X(jpeg_mem_src)                                                              \
  X(jpeg_read_header)                                                          \
  X(jpeg_start_decompress)                                                     \
  X(jpeg_read_scanlines)                                                       \
  X(jpeg_finish_decompress)                                                    \
  X(jpeg_destroy_decompress)

static struct {
#define HFTA_DECLARE(name) __typeof__(name) *name;
  HFTA_JPEG_FUNCTIONS(HFTA_DECLARE)
#undef HFTA_DECLARE
  char problem[256]; ///< the reason why they can't be called; "" if they can
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    snprintf(library.problem, sizeof(library.problem), "%s",
             reason ? reason : "it can't be opened");
    return;
  }
#define HFTA_FIND(name)                                                        \
  {                                                                            \
    void *symbol = dlsym(handle, #name);                                       \
    memcpy(&library.name, &symbol, sizeof(symbol));                            \
    if (!symbol)                                                               \
      snprintf(library.problem, sizeof(library.problem), "%s has no %s",       \
               library_name, #name);                                           \
  }
  HFTA_JPEG_FUNCTIONS(HFTA_FIND)
#undef HFTA_FIND
}

/// An image that is being decoded.
typedef struct jpeg {
  struct jpeg_decompress_struct state;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf failed;
  char problem[JMSG_LENGTH_MAX];
} jpeg;

/// The most scans of a progressive image: small files could have so many that
/// decoding took minutes.
enum { MOST_SCANS = 200 };

/// Leaves the library after an error.
static void leave(j_common_ptr state) {
  jpeg *self = (jpeg *)state->client_data;
  state->err->format_message(state, self->problem);
  longjmp(self->failed, 1);
}

/// Receives warnings. Those about missing data end the decoding, which would
/// go on with gray pixels; others concern what many cameras write.
static void warn(j_common_ptr state, int level) {
  if (level < 0 && (state->err->msg_code == JWRN_JPEG_EOF ||
                    state->err->msg_code == JWRN_HIT_MARKER))
    leave(state);
}

static void check_scans(j_common_ptr state) {
  jpeg *self = (jpeg *)state->client_data;
  if (self->state.input_scan_number <= MOST_SCANS)
    return;
  snprintf(self->problem, sizeof(self->problem), "it has more than %d scans",
           MOST_SCANS);
  longjmp(self->failed, 1);
}

static hfta_status damaged(const jpeg *self, const char *path,
                           hfta_error *error) {
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s' is a damaged JPEG image: %s", path, self->problem);
}

/// Reads the header, and chooses the form of the pixels.
static hfta_status read_header(jpeg *self, const unsigned char *data,
                               size_t bytes, const char *path,
                               hfta_image_size *size, hfta_error *error) {
  if (setjmp(self->failed))
    return damaged(self, path, error);
  library.jpeg_CreateDecompress(&self->state, JPEG_LIB_VERSION,
                                sizeof(self->state));
  self->progress.progress_monitor = check_scans;
  self->state.progress = &self->progress;
  library.jpeg_mem_src(&self->state, data, bytes);
  library.jpeg_read_header(&self->state, TRUE);
  if (self->state.jpeg_color_space == JCS_CMYK ||
      self->state.jpeg_color_space == JCS_YCCK)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is a JPEG image in CMYK, which is not supported: "
                     "convert it to RGB",
                     path);
  bool is_gray = self->state.jpeg_color_space == JCS_GRAYSCALE;
  self->state.out_color_space = is_gray ? JCS_GRAYSCALE : JCS_RGB;
  self->state.dct_method = JDCT_ISLOW;
  *size = (hfta_image_size){self->state.image_width, self->state.image_height,
                            is_gray ? 1 : 3};
  return hfta_image_check_size(path, size->width, size->height, error);
}

static hfta_status read_rows(jpeg *self, const char *path,
                             const hfta_image_size *size, unsigned char *out,
                             hfta_error *error) {
  if (setjmp(self->failed))
    return damaged(self, path, error);
  library.jpeg_start_decompress(&self->state);
  while (self->state.output_scanline < self->state.output_height) {
    JSAMPROW row = out + (size_t)self->state.output_scanline * size->width *
                             size->channels;
    library.jpeg_read_scanlines(&self->state, &row, 1);
  }
  library.jpeg_finish_decompress(&self->state);
  return HFTA_OK;
}

/// Decodes the pixels. The size of the file limits how many there may be, since
/// each block of 64 takes a bit at least.
static hfta_status decode(jpeg *self, size_t bytes, const char *path,
                          const hfta_image_size *size, unsigned char **out,
                          hfta_error *error) {
  uint64_t pixels = (uint64_t)size->width * size->height;
  if (pixels / 64 / 8 > bytes)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is a damaged JPEG image: pixels are missing", path);
  *out = malloc((size_t)pixels * size->channels);
  if (!*out)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", path);
  hfta_status status = read_rows(self, path, size, *out, error);
  if (status != HFTA_OK) {
    free(*out);
    *out = NULL;
  }
  return status;
}

hfta_status hfta_jpeg_decode(const unsigned char *data, size_t bytes,
                             const char *path, hfta_image_size *size,
                             unsigned char **out, hfta_error *error) {
  pthread_once(&once, load);
  if (*library.problem)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': JPEG images need libjpeg-turbo: %s; install "
                     "Debian's package libjpeg62-turbo",
                     path, library.problem);
  jpeg *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", path);
  self->state.err = library.jpeg_std_error(&self->errors);
  self->state.client_data = self;
  self->errors.error_exit = leave;
  self->errors.emit_message = warn;
  hfta_status status = read_header(self, data, bytes, path, size, error);
  if (status == HFTA_OK && out)
    status = decode(self, bytes, path, size, out, error);
  library.jpeg_destroy_decompress(&self->state);
  free(self);
  return status;
}

#else // HFTA_HAS_JPEG

hfta_status hfta_jpeg_decode(const unsigned char *data, size_t bytes,
                             const char *path, hfta_image_size *size,
                             unsigned char **out, hfta_error *error) {
  (void)data, (void)bytes, (void)size, (void)out;
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "'%s': this Hfta was built without libjpeg-turbo's headers, "
                   "so it can't read JPEG images; install Debian's package "
                   "libjpeg62-turbo-dev and build it again",
                   path);
}

#endif // HFTA_HAS_JPEG

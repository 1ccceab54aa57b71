//===- data_images.c - Samples from a folder of images --------------------===//

#include "data/data_images.h"

#include "data/data_source.h"
#include "data/image_resize.h"
#include "system/cpu_limit.h"
#include "system/path.h"
#include "system/thread.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/// The most threads that decode images, the calling one included.
enum { MOST_THREADS = 16 };

/// Images that are being decoded.
typedef struct work {
  const int64_t *indices; ///< NULL: the numbers 0, 1, ...
  int64_t count;
  int64_t next;       ///< the place of the image that a thread takes next
  int64_t left;       ///< the number of images that aren't done
  unsigned char *out; ///< NULL: each image's place in the cache, if it has one
  bool *damaged;      ///< receives which images are damaged; NULL: they fail
  int64_t failed;     ///< the least place of an image that failed, or -1
  hfta_status status; ///< the status of that image
  hfta_error error;
} work;

struct hfta_images {
  hfta_image_folder folder;
  hfta_image_size size; ///< the size of each sample
  hfta_image_resize resize;
  uint64_t sample_bytes;
  unsigned char *cache;
  int64_t cached; ///< the number of images that are in the cache

  pthread_t threads[MOST_THREADS];
  int thread_count;
  pthread_mutex_t turn; ///< held by the caller of the present work
  /// Protects all members below, and the numbers in the work.
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  work *work; ///< NULL: there is none
  bool stopping;
};

//===----------------------------------------------------------------------===//
// One image
//===----------------------------------------------------------------------===//

/// Makes gray pixels of colored ones, as Pillow does (ITU-R 601), or colored
/// ones of gray ones, in new memory. Returns NULL if memory runs out.
static unsigned char *convert_channels(const unsigned char *pixels,
                                       hfta_image_size *size,
                                       uint32_t channels) {
  size_t count = (size_t)size->width * size->height;
  unsigned char *out = malloc(count * channels);
  if (!out)
    return NULL;
  for (size_t i = 0; i < count; ++i) {
    if (channels == 3) {
      memset(out + 3 * i, pixels[i], 3);
      continue;
    }
    const unsigned char *pixel = pixels + 3 * i;
    out[i] = (unsigned char)((pixel[0] * 19595u + pixel[1] * 38470u +
                              pixel[2] * 7471u + 0x8000u) >>
                             16);
  }
  size->channels = channels;
  return out;
}

/// Scales an image to the samples' size, into `out`. Returns false if memory
/// runs out.
static bool scale(const hfta_images *self, const unsigned char *pixels,
                  const hfta_image_size *size, unsigned char *out) {
  double left = 0, top = 0, right = size->width, bottom = size->height;
  if (self->resize == HFTA_IMAGE_RESIZE_CROP) {
    // The proportions of the samples, in the larger of both that fit.
    double width = (double)size->height * self->size.width / self->size.height;
    double height = (double)size->width * self->size.height / self->size.width;
    if (width < size->width) {
      left = (size->width - width) / 2;
      right = left + width;
    } else if (height < size->height) {
      top = (size->height - height) / 2;
      bottom = top + height;
    }
  }
  return hfta_image_resize_part(pixels, size, left, top, right, bottom,
                                self->size.width, self->size.height, out);
}

/// Stores pixels channel by channel.
static void separate_channels(const hfta_images *self,
                              const unsigned char *pixels, unsigned char *out) {
  size_t count = (size_t)self->size.width * self->size.height;
  uint32_t channels = self->size.channels;
  for (uint32_t c = 0; c < channels; ++c)
    for (size_t i = 0; i < count; ++i)
      out[c * count + i] = pixels[i * channels + c];
}

/// Makes a sample of decoded pixels.
static hfta_status make_sample(const hfta_images *self, const char *path,
                               unsigned char *pixels, hfta_image_size size,
                               unsigned char *out, hfta_error *error) {
  bool is_sized =
      size.width == self->size.width && size.height == self->size.height;
  if (!is_sized && self->resize == HFTA_IMAGE_RESIZE_NONE)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' has %" PRIu32 " x %" PRIu32
                     " pixels (height x width), expected %" PRIu32 " x %" PRIu32
                     "; resize = crop or stretch scales images",
                     path, size.height, size.width, self->size.height,
                     self->size.width);
  unsigned char *converted = NULL, *scaled = NULL;
  bool is_complete = true;
  if (size.channels != self->size.channels) {
    converted = convert_channels(pixels, &size, self->size.channels);
    pixels = converted;
    is_complete = converted != NULL;
  }
  if (is_complete && !is_sized) {
    scaled = malloc(self->sample_bytes);
    is_complete = scaled && scale(self, pixels, &size, scaled);
    pixels = scaled;
  }
  if (is_complete)
    separate_channels(self, pixels, out);
  free(converted);
  free(scaled);
  return is_complete ? HFTA_OK
                     : hfta_fail(error, HFTA_UNSUPPORTED,
                                 "out of memory while reading '%s'", path);
}

static hfta_status decode(const hfta_images *self, int64_t index,
                          unsigned char *out, hfta_error *error) {
  char path[4096];
  unsigned char *file, *pixels = NULL;
  size_t bytes;
  hfta_image_size size;
  hfta_status status =
      hfta_image_folder_read(&self->folder, index, path, &file, &bytes, error);
  if (status == HFTA_OK)
    status = hfta_image_decode(file, bytes, path, &size, &pixels, error);
  free(file);
  if (status == HFTA_OK)
    status = make_sample(self, path, pixels, size, out, error);
  free(pixels);
  return status;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Decodes the image at a place of the work. `spare` is room for a sample.
static hfta_status decode_at(const hfta_images *self, const work *job,
                             int64_t place, unsigned char *spare,
                             hfta_error *error) {
  int64_t index = job->indices ? job->indices[place] : place;
  bool has_place = self->cache && index < self->cached;
  unsigned char *cached =
      has_place ? self->cache + (uint64_t)index * self->sample_bytes : spare;
  if (!job->out)
    return decode(self, index, cached, error);
  unsigned char *out = job->out + (uint64_t)place * self->sample_bytes;
  if (!has_place)
    return decode(self, index, out, error);
  memcpy(out, cached, self->sample_bytes);
  return HFTA_OK;
}

static void report(work *job, int64_t place, hfta_status status,
                   const hfta_error *error) {
  job->failed = place;
  job->status = status;
  job->error = *error;
}

/// Notes how an image went; the mutex is held.
static void finish(work *job, int64_t place, hfta_status status,
                   const hfta_error *error) {
  --job->left;
  if (job->damaged && status == HFTA_INVALID_INPUT)
    job->damaged[place] = true;
  else if (status != HFTA_OK && (job->failed < 0 || place < job->failed))
    report(job, place, status, error);
}

/// Decodes images until all of them are taken; the mutex is held, but not while
/// an image is decoded.
static void help(hfta_images *self, work *job, unsigned char *spare) {
  while (job->next < job->count) {
    int64_t place = job->next++;
    pthread_mutex_unlock(&self->mutex);
    hfta_error error;
    hfta_status status = decode_at(self, job, place, spare, &error);
    pthread_mutex_lock(&self->mutex);
    finish(job, place, status, &error);
    // Images before a failed one are decoded nevertheless, so that the first
    // failed one is reported, however many threads there are.
    if (job->failed >= 0) {
      job->left -= job->count - job->next;
      job->next = job->count;
    }
  }
}

static void *thread_main(void *argument) {
  hfta_images *self = argument;
  unsigned char *spare = malloc(self->sample_bytes);
  pthread_mutex_lock(&self->mutex);
  while (!self->stopping) {
    work *job = self->work;
    if (spare && job && job->next < job->count) {
      help(self, job, spare);
      pthread_cond_broadcast(&self->changed);
    } else {
      pthread_cond_wait(&self->changed, &self->mutex);
    }
  }
  pthread_mutex_unlock(&self->mutex);
  free(spare);
  return NULL;
}

/// Does all of the work with all threads.
static void run(hfta_images *self, work *job, unsigned char *spare) {
  job->left = job->count;
  job->failed = -1;
  pthread_mutex_lock(&self->turn);
  pthread_mutex_lock(&self->mutex);
  self->work = job;
  pthread_cond_broadcast(&self->changed);
  help(self, job, spare);
  while (job->left > 0)
    pthread_cond_wait(&self->changed, &self->mutex);
  self->work = NULL;
  pthread_mutex_unlock(&self->mutex);
  pthread_mutex_unlock(&self->turn);
}

hfta_status hfta_images_gather(const hfta_images *images,
                               const int64_t *indices, int64_t count,
                               unsigned char *out, hfta_error *error) {
  work job = {.indices = indices, .count = count, .out = out};
  // The threads' state is all that changes.
  run((hfta_images *)(uintptr_t)images, &job, NULL);
  return job.failed < 0 ? HFTA_OK
                        : hfta_fail(error, job.status, "%s", job.error.message);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Sets the samples' size to that of the request.
static hfta_status set_size(hfta_images *self, const hfta_data_request *request,
                            hfta_error *error) {
  const int64_t *shape = request->sample_shape;
  uint32_t rank = request->sample_rank;
  char text[HFTA_SHAPE_TEXT_BYTES];
  int64_t channels = rank == 3 ? shape[0] : 1;
  if (request->type != HFTA_U8 || (rank != 2 && rank != 3) ||
      (channels != 1 && channels != 3) || shape[rank - 1] > INT32_MAX ||
      shape[rank - 2] > INT32_MAX)
    return hfta_fail(
        error, HFTA_INVALID_INPUT,
        "'%s': expected a field of type u8[3, height, width] for images, or of "
        "u8[1, height, width] for gray ones, got %s of shape %s",
        request->path, hfta_element_name(request->type),
        hfta_shape_text(shape, rank, text));
  self->size = (hfta_image_size){(uint32_t)shape[rank - 1],
                                 (uint32_t)shape[rank - 2], (uint32_t)channels};
  return hfta_image_check_size(request->path, self->size.width,
                               self->size.height, error);
}

/// Removes images from the folder's list.
static void leave_out(hfta_images *self, const bool *damaged) {
  hfta_image_folder *folder = &self->folder;
  int64_t kept = 0, cached = 0;
  for (int64_t i = 0; i < folder->count; ++i) {
    if (damaged[i]) {
      free(folder->images[i].name);
      continue;
    }
    if (self->cache && i < self->cached) {
      memmove(self->cache + (uint64_t)cached * self->sample_bytes,
              self->cache + (uint64_t)i * self->sample_bytes,
              self->sample_bytes);
      ++cached;
    }
    folder->images[kept++] = folder->images[i];
  }
  folder->count = kept;
  self->cached = cached;
}

/// Decodes all images once.
static hfta_status decode_all(hfta_images *self, bool skips_damaged,
                              hfta_data_notes *notes, hfta_error *error) {
  int64_t count = self->folder.count;
  unsigned char *spare = malloc(self->sample_bytes);
  bool *damaged = calloc((size_t)count, sizeof(*damaged));
  work job = {.count = count, .damaged = skips_damaged ? damaged : NULL};
  hfta_status status = HFTA_OK;
  if (!spare || !damaged)
    status = hfta_fail(error, HFTA_UNSUPPORTED,
                       "not enough memory to read '%s'", self->folder.path);
  if (status == HFTA_OK) {
    run(self, &job, spare);
    if (job.failed >= 0)
      status = hfta_fail(error, job.status, "%s", job.error.message);
  }
  for (int64_t i = 0; i < count && status == HFTA_OK; ++i) {
    hfta_error reason;
    if (damaged[i] && decode(self, i, spare, &reason) != HFTA_OK)
      status =
          hfta_data_note(notes, error, "%s: it is left out", reason.message);
  }
  if (status == HFTA_OK)
    leave_out(self, damaged);
  free(spare);
  free(damaged);
  return status;
}

static hfta_status start_threads(hfta_images *self, hfta_error *error) {
  int64_t count = hfta_cpu_limit();
  if (count > MOST_THREADS)
    count = MOST_THREADS;
  if (count > self->folder.count)
    count = self->folder.count;
  // The caller of the work is one of the threads.
  for (int64_t i = 1; i < count; ++i) {
    int code = hfta_small_thread_start(&self->threads[self->thread_count],
                                       thread_main, self);
    if (code != 0)
      return hfta_fail(error, HFTA_UNSUPPORTED,
                       "cannot start a thread that reads images: %s",
                       strerror(code));
    ++self->thread_count;
  }
  return HFTA_OK;
}

hfta_status hfta_data_open_images(const hfta_data_request *request,
                                  hfta_data *data, hfta_error *error) {
  hfta_images *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory to read '%s'",
                     request->path);
  data->images = self;
  pthread_mutex_init(&self->turn, NULL);
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->changed, NULL);
  self->sample_bytes = data->sample_bytes;
  self->resize = request->resize;
  hfta_status status = set_size(self, request, error);
  if (status == HFTA_OK)
    status = hfta_image_folder_open(request->path, &self->folder, error);
  if (status != HFTA_OK)
    return status;
  int64_t most = request->cache / (int64_t)self->sample_bytes;
  self->cached = most < self->folder.count ? most : self->folder.count;
  uint64_t bytes = (uint64_t)self->cached * self->sample_bytes;
  if (bytes > 0 && !(self->cache = malloc(bytes)))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': not enough memory for %" PRIu64
                     " bytes of decoded images; 'cache' limits them",
                     request->path, bytes);
  status = start_threads(self, error);
  if (status == HFTA_OK)
    status = decode_all(self, request->skips_damaged, &data->notes, error);
  data->count = self->folder.count;
  data->owned_bytes = bytes + self->folder.bytes;
  return status;
}

const hfta_image_folder *hfta_images_folder(const hfta_images *images) {
  return &images->folder;
}

void hfta_images_close(hfta_images *images) {
  if (!images)
    return;
  pthread_mutex_lock(&images->mutex);
  images->stopping = true;
  pthread_cond_broadcast(&images->changed);
  pthread_mutex_unlock(&images->mutex);
  for (int i = 0; i < images->thread_count; ++i)
    pthread_join(images->threads[i], NULL);
  pthread_cond_destroy(&images->changed);
  pthread_mutex_destroy(&images->mutex);
  pthread_mutex_destroy(&images->turn);
  hfta_image_folder_close(&images->folder);
  free(images->cache);
  free(images);
}

hfta_status hfta_data_probe_images(const hfta_data_request *request,
                                   hfta_data_info *out, hfta_error *error) {
  hfta_image_folder folder;
  hfta_status status = hfta_image_folder_open(request->path, &folder, error);
  char path[4096];
  unsigned char *file = NULL;
  size_t bytes;
  hfta_image_size size;
  if (status == HFTA_OK)
    status = hfta_image_folder_read(&folder, 0, path, &file, &bytes, error);
  if (status == HFTA_OK)
    status = hfta_image_measure(file, bytes, path, &size, error);
  free(file);
  if (status == HFTA_OK)
    *out = (hfta_data_info){
        .type = HFTA_U8,
        .count = folder.count,
        .sample_rank = 3,
        .sample_shape = {size.channels, size.height, size.width}};
  hfta_image_folder_close(&folder);
  return status;
}

//===- image_folder.c - Images in a folder for each class -----------------===//

#include "data/image_folder.h"

#include "system/path.h"
#include "system/stat_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// The most bytes of an image's file.
#define MOST_FILE_BYTES ((uint64_t)1 << 30)

/// Names in a folder.
typedef struct name_list {
  char **names;
  size_t count, capacity;
} name_list;

static hfta_status out_of_memory(const char *path, hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED, "out of memory while reading '%s'",
                   path);
}

static void free_names(name_list *list) {
  for (size_t i = 0; i < list->count; ++i)
    free(list->names[i]);
  free(list->names);
  *list = (name_list){NULL, 0, 0};
}

static bool add_name(name_list *list, const char *name) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    char **names = realloc(list->names, capacity * sizeof(*names));
    if (!names)
      return false;
    list->names = names;
    list->capacity = capacity;
  }
  list->names[list->count] = strdup(name);
  return list->names[list->count] && ++list->count > 0;
}

static int compare_names(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

/// Lists the names in a folder that don't begin with a dot, in order.
static hfta_status list_names(const char *path, name_list *out,
                              hfta_error *error) {
  DIR *folder = opendir(path);
  if (!folder)
    return hfta_fail(error, HFTA_INVALID_INPUT, "cannot open '%s': %s", path,
                     strerror(errno));
  hfta_status status = HFTA_OK;
  for (struct dirent *entry;
       status == HFTA_OK && (errno = 0, entry = readdir(folder));)
    if (entry->d_name[0] != '.' && !add_name(out, entry->d_name))
      status = out_of_memory(path, error);
  if (status == HFTA_OK && errno != 0)
    status = hfta_fail(error, HFTA_INVALID_INPUT, "cannot read '%s': %s", path,
                       strerror(errno));
  closedir(folder);
  if (status == HFTA_OK && out->count > 0)
    qsort(out->names, out->count, sizeof(*out->names), compare_names);
  return status;
}

/// Adds the images of a class. `label` is its number and `name` its folder.
static hfta_status add_class(hfta_image_folder *self, size_t *capacity,
                             const char *name, int32_t label,
                             hfta_error *error) {
  hfta_path path, image;
  name_list files = {NULL, 0, 0};
  int64_t before = self->count;
  hfta_status status = hfta_path_under(&path, self->path, name, error);
  if (status == HFTA_OK)
    status = list_names(path.text, &files, error);
  for (size_t i = 0; i < files.count && status == HFTA_OK; ++i) {
    if (!hfta_image_is_named(files.names[i]))
      continue;
    status = hfta_path_under(&image, name, files.names[i], error);
    if (status != HFTA_OK)
      break;
    if ((size_t)self->count == *capacity) {
      size_t wanted = *capacity ? 2 * *capacity : 64;
      void *images = realloc(self->images, wanted * sizeof(*self->images));
      if (images) {
        self->images = images;
        *capacity = wanted;
      }
    }
    char *copy = (size_t)self->count < *capacity ? strdup(image.text) : NULL;
    if (!copy) {
      status = out_of_memory(self->path, error);
      break;
    }
    self->bytes += strlen(copy) + 1 + sizeof(*self->images);
    self->images[self->count++] = (hfta_folder_image){copy, label};
  }
  free_names(&files);
  if (status == HFTA_OK && self->count == before)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' has no images: files that end with .png, .jpg or "
                     ".jpeg",
                     path.text);
  return status;
}

hfta_status hfta_image_folder_open(const char *path, hfta_image_folder *out,
                                   hfta_error *error) {
  *out = (hfta_image_folder){.path = strdup(path)};
  if (!out->path)
    return out_of_memory(path, error);
  name_list names = {NULL, 0, 0};
  hfta_status status = list_names(path, &names, error);
  size_t folders = 0;
  for (size_t i = 0; i < names.count && status == HFTA_OK; ++i) {
    hfta_path inner;
    status = hfta_path_under(&inner, path, names.names[i], error);
    if (status == HFTA_OK && hfta_path_is_folder(inner.text)) {
      char *name = names.names[i];
      names.names[i] = names.names[folders];
      names.names[folders++] = name;
    }
  }
  if (status == HFTA_OK && folders == 0)
    status =
        hfta_fail(error, HFTA_INVALID_INPUT,
                  "'%s' has no folders: expected one for each class", path);
  size_t capacity = 0;
  for (size_t i = 0; i < folders && status == HFTA_OK; ++i)
    status = add_class(out, &capacity, names.names[i], (int32_t)i, error);
  if (status != HFTA_OK) {
    free_names(&names);
    return status;
  }
  // The names of classes are kept, those of other entries aren't.
  for (size_t i = folders; i < names.count; ++i)
    free(names.names[i]);
  out->classes = names.names;
  out->class_count = (int32_t)folders;
  return HFTA_OK;
}

void hfta_image_folder_close(hfta_image_folder *folder) {
  for (int32_t i = 0; i < folder->class_count; ++i)
    free(folder->classes[i]);
  for (int64_t i = 0; i < folder->count; ++i)
    free(folder->images[i].name);
  free(folder->classes);
  free(folder->images);
  free(folder->path);
  *folder = (hfta_image_folder){0};
}

/// Reads a whole open file.
static hfta_status read_all(int file, const char *path, unsigned char **out,
                            size_t *bytes, hfta_error *error) {
  struct stat facts;
  if (hfta_fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))
    return hfta_fail(error, HFTA_INVALID_INPUT, "'%s' is no regular file",
                     path);
  if ((uint64_t)facts.st_size > MOST_FILE_BYTES)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': an image of more than 2^30 bytes is not supported",
                     path);
  size_t size = (size_t)facts.st_size;
  *out = malloc(size + 1);
  if (!*out)
    return out_of_memory(path, error);
  for (*bytes = 0; *bytes < size;) {
    ssize_t got = read(file, *out + *bytes, size - *bytes);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return hfta_fail(error, HFTA_INVALID_INPUT, "cannot read '%s': %s", path,
                       strerror(errno));
    if (got == 0)
      break;
    *bytes += (size_t)got;
  }
  return HFTA_OK;
}

hfta_status hfta_image_folder_read(const hfta_image_folder *folder,
                                   int64_t index, char text[4096],
                                   unsigned char **out, size_t *bytes,
                                   hfta_error *error) {
  hfta_path path;
  *out = NULL;
  *bytes = 0;
  hfta_status status =
      hfta_path_under(&path, folder->path, folder->images[index].name, error);
  if (status != HFTA_OK)
    return status;
  memcpy(text, path.text, sizeof(path.text));
  // A pipe must not block.
  int file = open(path.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return hfta_fail(error, HFTA_INVALID_INPUT, "cannot open '%s': %s",
                     path.text, strerror(errno));
  status = read_all(file, path.text, out, bytes, error);
  close(file);
  if (status != HFTA_OK) {
    free(*out);
    *out = NULL;
  }
  return status;
}

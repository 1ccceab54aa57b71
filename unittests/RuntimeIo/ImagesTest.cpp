//===- ImagesTest.cpp - Images in files and folders -----------------------===//

#include "TestFiles.h"

extern "C" {
#include "formats/image.h"
}

#include <cmath>
#include <filesystem>

using namespace hfta_test;

namespace {

/// A color type of PNG.
enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGB_ALPHA = 6 };

/// Decodes an image. Returns its pixels, or the message with "FILE" instead of
/// a path.
std::string decode(const std::string &bytes, hfta_image_size *size) {
  hfta_error error;
  unsigned char *pixels = nullptr;
  hfta_status status = hfta_image_decode(bytes.data(), bytes.size(), "FILE",
                                         size, &pixels, &error);
  EXPECT_EQ(status == HFTA_OK, pixels != nullptr);
  if (status != HFTA_OK)
    return describe(status, error);
  hfta_image_size measured;
  EXPECT_EQ(
      hfta_image_measure(bytes.data(), bytes.size(), "FILE", &measured, &error),
      HFTA_OK);
  EXPECT_EQ(measured.width, size->width);
  EXPECT_EQ(measured.height, size->height);
  EXPECT_EQ(measured.channels, size->channels);
  std::string out(reinterpret_cast<char *>(pixels),
                  size_t(size->width) * size->height * size->channels);
  free(pixels);
  return out;
}

std::string decode(const std::string &bytes) {
  hfta_image_size size;
  return decode(bytes, &size);
}

/// Returns an image of one color.
std::string plain(uint32_t width, uint32_t height, const std::string &pixel) {
  std::string row(1, '\0');
  for (uint32_t x = 0; x < width; ++x)
    row += pixel;
  std::string rows;
  for (uint32_t y = 0; y < height; ++y)
    rows += row;
  return png(width, height, pixel.size() == 1 ? GRAY : RGB, 8, rows);
}

/// Two images of 8 x 8 pixels, of Pillow: a gray one of 77, and a colored one
/// whose upper and lower halves have the colors 183, 37, 60 and 25, 218, 93.
const unsigned char grayJpeg[] =
    "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff"
    "\xdb\x00\x43\x00\x1b\x12\x14\x17\x14\x11\x1b\x17\x16\x17\x1e\x1c\x1b\x20"
    "\x28\x42\x2b\x28\x25\x25\x28\x51\x3a\x3d\x30\x42\x60\x55\x65\x64\x5f\x55"
    "\x5d\x5b\x6a\x78\x99\x81\x6a\x71\x90\x73\x5b\x5d\x85\xb5\x86\x90\x9e\xa3"
    "\xab\xad\xab\x67\x80\xbc\xc9\xba\xa6\xc7\x99\xa8\xab\xa4\xff\xc0\x00\x0b"
    "\x08\x00\x08\x00\x08\x01\x01\x11\x00\xff\xc4\x00\x14\x00\x01\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\xff\xc4\x00\x14\x10"
    "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff"
    "\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x03\xff\xd9";

std::string jpeg() {
  return {reinterpret_cast<const char *>(grayJpeg), sizeof(grayJpeg) - 1};
}

class ImagesTest : public FileTest {
protected:
  /// Writes a file in a folder of the test's folder.
  void add(const std::string &name, const std::string &bytes) const {
    std::filesystem::create_directories(
        std::filesystem::path(path(name)).parent_path());
    write(name, bytes);
  }

  Request images(std::vector<int64_t> shape,
                 hfta_image_resize resize = HFTA_IMAGE_RESIZE_NONE) const {
    Request request = {path("set"), HFTA_DATA_IMAGES, HFTA_U8,
                       std::move(shape)};
    request.resize = resize;
    return request;
  }

  /// Returns the samples of a folder, or a message without the test's folder.
  std::string samples(const Request &request) const {
    hfta_error error;
    DataPointer data = open(request, error);
    return data ? gatherAll(data.get()) : shorten(describe(error.code, error));
  }

  /// Removes the test's folder from a message.
  std::string shorten(std::string message) const {
    std::string folder = path("");
    for (size_t at; (at = message.find(folder)) != std::string::npos;)
      message.erase(at, folder.size());
    return message;
  }
};

/// Returns the weights with which element `index` of an axis that is scaled
/// from `from` elements, beginning at `begin` and `scale` apart, depends on
/// these: a triangle as wide as the scale, but no narrower than 1.
std::vector<double> triangle(size_t from, double begin, double scale,
                             size_t index) {
  double width = std::max(scale, 1.0), sum = 0;
  std::vector<double> weights(from);
  for (size_t i = 0; i < from; ++i) {
    double distance = double(i) + 0.5 - (begin + (double(index) + 0.5) * scale);
    weights[i] = std::max(0.0, 1 - std::abs(distance) / width);
    sum += weights[i];
  }
  for (double &weight : weights)
    weight /= sum;
  return weights;
}

} // namespace

//===----------------------------------------------------------------------===//
// PNG and JPEG
//===----------------------------------------------------------------------===//

TEST_F(ImagesTest, PngFilters) {
  // Each filter, in the first row and after another row, in two pixels. The
  // bytes are differences to the left, the upper, their mean, and Paeth's.
  std::string expected = "\1\2\3\11\12\13";
  for (auto [rows, second] :
       {std::pair<std::string, std::string>{
            std::string("\0\1\2\3\11\12\13\0\4\5\6\7\7\7", 14), "\4\5\6\7\7\7"},
        {std::string("\1\1\2\3\10\10\10\1\4\5\6\3\2\1", 14), "\4\5\6\7\7\7"},
        {std::string("\2\1\2\3\11\12\13\2\3\3\3\376\375\374", 14),
         "\4\5\6\7\7\7"},
        {std::string("\3\1\2\3\11\11\12\3\4\4\5\1\0\377", 14), "\4\5\6\7\7\7"},
        {std::string("\4\1\2\3\10\10\10\4\3\3\3\376\375\374", 14),
         "\4\5\6\7\7\7"}}) {
    hfta_image_size size;
    EXPECT_EQ(decode(png(2, 2, RGB, 8, rows), &size), expected + second)
        << int(rows[0]);
    EXPECT_EQ(size.width, 2u);
    EXPECT_EQ(size.height, 2u);
    EXPECT_EQ(size.channels, 3u);
  }
}

TEST_F(ImagesTest, PngForms) {
  // Gray of 1, 2, 4 and 16 bits.
  EXPECT_EQ(decode(png(9, 1, GRAY, 1, std::string("\0\xA1\x80", 3))),
            std::string("\xFF\0\xFF\0\0\0\0\xFF\xFF", 9));
  EXPECT_EQ(decode(png(3, 1, GRAY, 2, std::string("\0\x6C", 2))),
            "\x55\xAA\xFF");
  EXPECT_EQ(decode(png(3, 1, GRAY, 4, std::string("\0\x1F\x70", 3))),
            "\x11\xFF\x77");
  EXPECT_EQ(decode(png(2, 1, GRAY, 16, std::string("\0\x12\x34\xFE\xDC", 5))),
            "\x12\xFE");
  // Transparency is ignored.
  EXPECT_EQ(decode(png(2, 1, GRAY_ALPHA, 8, std::string("\0a0b\0", 5))), "ab");
  EXPECT_EQ(decode(png(1, 1, RGB_ALPHA, 8, std::string("\0abc0", 5))), "abc");
  // A palette of 2 bits.
  std::string palette = "abcdefghi";
  EXPECT_EQ(decode(png(3, 1, PALETTE, 2, std::string("\0\x24", 2), palette)),
            "abcghidef");
  EXPECT_EQ(decode(png(1, 1, PALETTE, 2, std::string("\0\xC0", 2), palette)),
            "1: 'FILE' is a damaged PNG image: its palette lacks a color");
}

TEST_F(ImagesTest, PngInterlaced) {
  // The passes of Adam7: their first pixels, and the distances of pixels.
  const int passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8},
                            {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
                            {0, 1, 1, 2}};
  for (auto [width, height] : {std::pair(1, 1), {3, 2}, {8, 8}, {11, 13}}) {
    std::string pixels, rows;
    for (int i = 0; i < width * height; ++i)
      pixels += static_cast<char>(i * 7 + 1);
    for (const int *pass : passes)
      for (int y = pass[1]; y < height && pass[0] < width; y += pass[3]) {
        rows += '\0';
        for (int x = pass[0]; x < width; x += pass[2])
          rows += pixels[y * width + x];
      }
    EXPECT_EQ(decode(png(width, height, GRAY, 8, rows, "", true)), pixels)
        << width;
  }
}

TEST_F(ImagesTest, PngErrors) {
  std::string good = plain(2, 2, "abc");
  EXPECT_EQ(decode("text"), "1: 'FILE' is neither a PNG nor a JPEG image");
  EXPECT_EQ(decode(good.substr(0, good.size() - 4)),
            "1: 'FILE' is a damaged PNG image: it ends too early");
  std::string bad = good;
  bad[good.find("IDAT") + 5] ^= 1;
  EXPECT_EQ(decode(bad),
            "1: 'FILE' is a damaged PNG image: a part has a wrong checksum");
  EXPECT_EQ(decode(png(2, 2, RGB, 8, std::string("\0abcabc", 7))),
            "1: 'FILE' is a damaged PNG image: pixels are missing");
  EXPECT_EQ(decode(png(1, 1, GRAY, 8, "\5a")),
            "1: 'FILE' is a damaged PNG image: a row has an unknown filter");
  EXPECT_EQ(decode(png(1, 1, 5, 8, std::string("\0a", 2))),
            "1: 'FILE' is a damaged PNG image: its pixels have an unknown "
            "form");
  EXPECT_EQ(decode(png(0, 1, GRAY, 8, std::string("\0", 1))),
            "1: 'FILE': an image without pixels");
  EXPECT_EQ(decode(png(1 << 30, 1 << 30, GRAY, 8, "")),
            "3: 'FILE': an image of 1073741824 x 1073741824 pixels, more than "
            "2^28, is not supported");
  EXPECT_EQ(decode(png(1 << 14, 1 << 14, GRAY, 8, "")),
            "1: 'FILE' is a damaged PNG image: pixels are missing");
}

TEST_F(ImagesTest, HostilePng) {
  auto check = [](const std::string &bytes) {
    hfta_image_size size;
    hfta_error error;
    unsigned char *pixels = nullptr;
    (void)hfta_image_decode(bytes.data(), bytes.size(), "FILE", &size, &pixels,
                            &error);
    free(pixels);
  };
  for (const std::string &good :
       {plain(5, 3, "abc"),
        png(9, 1, PALETTE, 1, std::string("\0\xA1\x80", 3), "abcdef")}) {
    forEachTruncation(good, check);
    forEachCorruption(good, 5000, check);
  }
}

TEST_F(ImagesTest, Jpeg) {
  hfta_image_size size;
  std::string found = decode(jpeg(), &size);
  if (found.find("libjpeg-turbo") != std::string::npos)
    GTEST_SKIP() << found;
  EXPECT_EQ(found, std::string(64, 77));
  EXPECT_EQ(size.channels, 1u);
  std::string cut = jpeg().substr(0, jpeg().size() - 4);
  EXPECT_EQ(decode(cut),
            "1: 'FILE' is a damaged JPEG image: Premature end of JPEG file");
  EXPECT_EQ(decode("\xFF\xD8\xFF"),
            "1: 'FILE' is a damaged JPEG image: Premature end of JPEG file");
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

TEST_F(ImagesTest, Folder) {
  // Classes and images are sorted; other files and hidden ones are ignored.
  add("set/dogs/b.PNG", plain(1, 2, "abc"));
  add("set/dogs/a.png", plain(1, 2, "def"));
  add("set/cats/z.png", plain(1, 2, "g"));
  add("set/cats/notes.txt", "text");
  add("set/cats/.x.png", "text");
  add("set/.hidden/x.png", "text");
  add("set/readme", "text");
  for (int64_t cache : {0, 7, 100}) {
    Request request = images({3, 2, 1});
    request.cache = cache;
    EXPECT_EQ(samples(request), "ggggggddeeffaabbcc");
    request = images({2, 1});
    request.cache = cache;
    // 0.299 red + 0.587 green + 0.114 blue
    EXPECT_EQ(samples(request), "ggeebb");
    hfta_error error;
    DataPointer data = open(request, error);
    ASSERT_TRUE(data) << error.message;
    int64_t indices[] = {2, 0, 2};
    char out[6];
    ASSERT_EQ(hfta_data_gather(data.get(), indices, 3, out, &error), HFTA_OK);
    EXPECT_EQ(std::string(out, 6), "bbggbb");
  }
  Request labels = {path("set"), HFTA_DATA_CLASSES, HFTA_I32, {}};
  EXPECT_EQ(samples(labels), bytesOf<int32_t>({0, 1, 1}));
  hfta_error error;
  DataPointer data = open(labels, error);
  ASSERT_TRUE(data);
  EXPECT_STREQ(hfta_data_classes(data.get()), "cats\ndogs\n");
  ASSERT_EQ(hfta_data_note_count(data.get()), 1u);
  EXPECT_EQ(shorten(hfta_data_note_at(data.get(), 0)),
            "'set' has 3 images of 2 classes: 0 'cats', 1 'dogs'");
  hfta_data_request probed = {};
  std::string folder = path("set");
  probed.path = folder.c_str();
  probed.format = HFTA_DATA_IMAGES;
  hfta_data_info info;
  ASSERT_EQ(hfta_data_probe(&probed, &info, &error), HFTA_OK);
  EXPECT_EQ(info.count, 3);
  EXPECT_EQ(info.sample_shape[0], 1);
  EXPECT_EQ(info.sample_shape[1], 2);
}

TEST_F(ImagesTest, FolderErrors) {
  EXPECT_EQ(samples(images({3, 1, 1})),
            "1: cannot open 'set': No such file or directory");
  add("set/file.png", plain(1, 1, "a"));
  EXPECT_EQ(samples(images({3, 1, 1})),
            "1: 'set' has no folders: expected one for each class");
  add("set/one/file.txt", "text");
  EXPECT_EQ(samples(images({3, 1, 1})),
            "1: 'set/one' has no images: files that end with .png, .jpg or "
            ".jpeg");
  add("set/one/a.png", plain(2, 1, "a"));
  EXPECT_EQ(samples(images({3, 1, 1})),
            "1: 'set/one/a.png' has 1 x 2 pixels (height x width), expected 1 "
            "x 1; resize = crop or stretch scales images");
  EXPECT_EQ(samples(images({2, 1, 1})).substr(0, 50),
            "1: 'set': expected a field of type u8[3, height, w");
}

TEST_F(ImagesTest, Damaged) {
  add("set/one/a.png", plain(1, 1, "a"));
  add("set/one/b.png", plain(1, 1, "b").substr(0, 50));
  add("set/one/c.png", "text");
  add("set/two/d.png", plain(1, 1, "d"));
  std::string first = "'set/one/b.png' is a damaged PNG image: it ends too "
                      "early";
  // The first damaged image is reported, however many threads there are.
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(samples(images({1, 1})), "1: " + first);
  for (int64_t cache : {0, 2, 100}) {
    Request request = images({1, 1});
    request.skipsDamaged = true;
    request.cache = cache;
    EXPECT_EQ(samples(request), "ad");
    hfta_error error;
    DataPointer data = open(request, error);
    ASSERT_TRUE(data) << error.message;
    ASSERT_EQ(hfta_data_note_count(data.get()), 2u);
    EXPECT_EQ(shorten(hfta_data_note_at(data.get(), 0)),
              first + ": it is left out");
    EXPECT_EQ(shorten(hfta_data_note_at(data.get(), 1)),
              "'set/one/c.png' is neither a PNG nor a JPEG image: it is left "
              "out");
    // The classes are those of the images that are left.
    hfta_data_request labels = {};
    labels.path = request.path.c_str();
    labels.format = HFTA_DATA_CLASSES;
    labels.type = HFTA_I32;
    labels.images = data.get();
    hfta_data *classes = nullptr;
    ASSERT_EQ(hfta_data_open(&labels, &classes, &error), HFTA_OK);
    EXPECT_EQ(gatherAll(classes), bytesOf<int32_t>({0, 1}));
    hfta_data_close(classes);
  }
}

TEST_F(ImagesTest, Resize) {
  const size_t width = 7, height = 5;
  std::string rows, pixels;
  for (size_t y = 0; y < height; ++y) {
    rows += '\0';
    for (size_t x = 0; x < width; ++x)
      pixels += static_cast<char>((x * 53 + y * 91 + x * y * 17) % 256);
    rows += pixels.substr(y * width);
  }
  add("set/one/a.png", png(width, height, GRAY, 8, rows));
  for (auto [w, h] : {std::pair<size_t, size_t>{3, 2}, {14, 5}, {7, 3}, {9, 9}})
    for (bool crops : {false, true}) {
      // The part of the image that is scaled.
      double left = 0, top = 0, right = width, bottom = height;
      double wide = double(height) * w / h, high = double(width) * h / w;
      if (crops && wide < width)
        left = (width - wide) / 2, right = left + wide;
      else if (crops && high < height)
        top = (height - high) / 2, bottom = top + high;
      std::string found = samples(
          images({int64_t(h), int64_t(w)},
                 crops ? HFTA_IMAGE_RESIZE_CROP : HFTA_IMAGE_RESIZE_STRETCH));
      ASSERT_EQ(found.size(), w * h) << found;
      for (size_t y = 0; y < h; ++y)
        for (size_t x = 0; x < w; ++x) {
          std::vector<double> across =
              triangle(width, left, (right - left) / w, x);
          std::vector<double> down =
              triangle(height, top, (bottom - top) / h, y);
          double expected = 0;
          for (size_t i = 0; i < height; ++i) {
            double row = 0;
            for (size_t j = 0; j < width; ++j)
              row += across[j] * (unsigned char)pixels[i * width + j];
            // Rows are rounded before columns are scaled.
            expected += down[i] * std::floor(row + 0.5);
          }
          EXPECT_NEAR((unsigned char)found[y * w + x], expected, 0.501)
              << x << " " << y;
        }
    }
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

TEST_F(ImagesTest, Tokens) {
  Request request = {write("a.bin", bytesOf<uint16_t>({1, 2, 3, 4, 5, 6, 7})),
                     HFTA_DATA_TOKENS,
                     HFTA_U16,
                     {3}};
  EXPECT_EQ(samples(request), bytesOf<uint16_t>({1, 2, 3, 4, 5, 6}));
  request.shift = 1;
  EXPECT_EQ(samples(request), bytesOf<uint16_t>({2, 3, 4, 5, 6, 7}));
  request.stride = 1;
  EXPECT_EQ(samples(request),
            bytesOf<uint16_t>({2, 3, 4, 3, 4, 5, 4, 5, 6, 5, 6, 7}));
  request.shift = 0;
  EXPECT_EQ(samples(request),
            bytesOf<uint16_t>({1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6}));
  request.shape = {6};
  EXPECT_EQ(samples(request), bytesOf<uint16_t>({1, 2, 3, 4, 5, 6}));
  request.shape = {7};
  EXPECT_EQ(samples(request), "1: 'a.bin' holds 7 numbers, less than a window "
                              "of 7 and 1 more");
  write("a.bin", "abc");
  EXPECT_EQ(samples(request), "1: 'a.bin': expected a multiple of 2 bytes (a "
                              "number of type u16), got 3");
}

"""How augmentations change samples, as a reference for the compiler. Images are lists of
channels of rows of numbers. The random numbers are Philox4x32-10's for the job's
augment_seed, the epoch, and the sample's index in the data set. Needs only Python's
standard library."""

import math
import struct

TRIES = 10


def hash_name(name):
    """Returns the upper 63 bits of a name's FNV-1a hash of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % (1 << 64)
    return value >> 1


def philox(counter, key):
    """Returns the words of Philox4x32-10 (Salmon et al., 2011)."""
    for _ in range(10):
        first, second = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [second >> 32 ^ counter[1] ^ key[0], second % 2 ** 32,
                   first >> 32 ^ counter[3] ^ key[1], first % 2 ** 32]
        key = [(key[0] + 0x9E3779B9) % 2 ** 32, (key[1] + 0xBB67AE85) % 2 ** 32]
    return counter


def make_order(samples, epoch, order_seed):
    """Returns the order of samples in an epoch: a Feistel network permutes the numbers
    below the smallest power of two that is at least `samples` (and 4), and again the
    results that aren't samples."""
    bits = max(2, (samples - 1).bit_length())
    key = [order_seed % 2 ** 32, order_seed >> 32]

    def permute(value):
        widths = [bits // 2, bits - bits // 2]
        left, right = value >> widths[1], value % (1 << widths[1])
        for number in range(8):
            word = philox([right, number, epoch, 0], key)[0]
            left, right = right, (left ^ word) % (1 << widths[0])
            widths.reverse()
        return left << widths[1] | right

    order = []
    for position in range(samples):
        value = permute(position)
        while value >= samples:
            value = permute(value)
        order.append(value)
    return order


def to_f32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def scale(uniform, size):
    """Returns a whole number from 0 to size - 1."""
    return int(to_f32(uniform * size))


def draw_uniform(name, seed, epoch, index, element=0):
    """Returns a number in [0, 1) with 24 random bits."""
    stream = hash_name(name)
    words = philox([element, index % 2 ** 32, epoch, stream % 2 ** 32],
                   [seed % 2 ** 32, seed >> 32 ^ stream >> 32])
    return (words[0] >> 8) * 2.0 ** -24


def draw_count(seed, index):
    """Returns how often a copy counts a sample in a bootstrap."""
    uniform, count, share, total = draw_uniform("hfta.bootstrap", seed, 0, index), 0, 1, 0
    while uniform >= to_f32(total + math.exp(-1) * share):
        total += math.exp(-1) * share
        count += 1
        share /= count
    return count


def draw_classes(labels, count, epoch, order_seed):
    """Returns the samples of the first positions of an epoch that draws by classes."""
    members = [[i for i, label in enumerate(labels) if label == number]
               for number in sorted(set(labels))]
    for position in range(count):
        words = philox([position, 16, epoch, 0], [order_seed % 2 ** 32, order_seed >> 32])
        chosen = members[words[0] * len(members) >> 32]
        yield chosen[words[1] * len(chosen) >> 32]


class Sample:
    """Draws the numbers of a sample in an epoch. `index` stands for the sample; it is that
    of its data unless these are given."""

    def __init__(self, index, epoch, seed, data=None):
        self.index, self.epoch, self.seed = index, epoch, seed
        self.data = index if data is None else data

    def draw(self, function, what, element=0, number=0, view=0):
        return draw_uniform(f"hfta.augment/{function}/{number}/{view}/{what}", self.seed,
                            self.epoch, self.index, element)

    def beta(self, function, alpha):
        u, v = self.draw(function, "radius"), self.draw(function, "angle")
        w, c = (1 - u) ** (1 / alpha), math.cos(2 * math.pi * v)
        share = .5 + .5 * c * math.sqrt((1 - w) / max(w + (1 - w) * c * c, 1e-30))
        return min(max(share, 0), 1)

    def rectangle(self, function, height, width, area, ratio, touches):
        """Returns the top, left, height and width of a rectangle."""
        for number in range(TRIES):
            share = area[0] + self.draw(function, "area", number) * (area[1] - area[0])
            shape = math.exp(math.log(ratio[0]) + self.draw(function, "ratio", number) *
                             math.log(ratio[1] / ratio[0]))
            size = [math.floor(math.sqrt(share * height * width / shape) + .5),
                    math.floor(math.sqrt(share * height * width * shape) + .5)]
            most = [height + touches, width + touches]
            if all(1 <= s < m for s, m in zip(size, most)):
                return [scale(self.draw(function, "top"), height - size[0] + 1),
                        scale(self.draw(function, "left"), width - size[1] + 1), *size]
        if not touches:
            return [0, 0, 0, 0]
        size = [height, width]
        if width / height < ratio[0]:
            size[0] = max(1, math.floor(width / ratio[0] + .5))
        elif width / height > ratio[1]:
            size[1] = max(1, math.floor(height * ratio[1] + .5))
        return [(height - size[0]) // 2, (width - size[1]) // 2, *size]

    def around(self, function, height, width, size):
        return [scale(self.draw(function, "row"), height) - size[0] // 2,
                scale(self.draw(function, "column"), width) - size[1] // 2, *size]


def change(image, function):
    """Replaces each element by function(channel, row, column)."""
    return [[[function(c, y, x) for x in range(len(row))] for y, row in enumerate(rows)]
            for c, rows in enumerate(image)]


def get_size(image):
    return len(image[0]), len(image[0][0])


def is_inside(box, y, x):
    return box[0] <= y < box[0] + box[2] and box[1] <= x < box[1] + box[3]


def crop(image, sample, size, padding=0, **key):
    height, width = get_size(image)
    top = scale(sample.draw("crop", "top", **key),
                height + 2 * padding - size[0] + 1) - padding
    left = scale(sample.draw("crop", "left", **key),
                 width + 2 * padding - size[1] + 1) - padding
    return [[[rows[y][x] if 0 <= y < height and 0 <= x < width else 0
              for x in range(left, left + size[1])]
             for y in range(top, top + size[0])] for rows in image]


def flip(image, sample, p=.5, axis=2, **key):
    """Flips rows (axis 1) or columns (axis 2)."""
    if sample.draw("flip", "chosen", **key) >= to_f32(p):
        return image
    return [rows[::-1] if axis == 1 else [row[::-1] for row in rows] for rows in image]


def noise(image, sample, deviation, field, **key):
    height, width = get_size(image)

    def add(c, y, x):
        element = (c * height + y) * width + x
        u = sample.draw("noise", f"radius/{field}", element, **key)
        v = sample.draw("noise", f"angle/{field}", element, **key)
        return image[c][y][x] + (math.sqrt(-2 * math.log(1 - u)) *
                                 math.cos(2 * math.pi * v) * deviation)
    return change(image, add)


def fill(image, sample, function, box, p, value):
    if sample.draw(function, "chosen") >= to_f32(p):
        return image
    return change(image, lambda c, y, x: value if is_inside(box, y, x)
                  else image[c][y][x])


def erase(image, sample, p=.5, area=(.02, .33), ratio=(.3, 3.3), value=0):
    box = sample.rectangle("erase", *get_size(image), area, ratio, False)
    return fill(image, sample, "erase", box, p, value)


def cutout(image, sample, size, p=1, value=0):
    box = sample.around("cutout", *get_size(image), size)
    return fill(image, sample, "cutout", box, p, value)


def resized_crop(image, sample, size, area=(.08, 1), ratio=(3 / 4, 4 / 3)):
    box = sample.rectangle("resized_crop", *get_size(image), area, ratio, True)

    def find(length, count, index):
        place = min(max((index + .5) * length / count - .5, 0), length - 1)
        first = math.floor(place)
        return first, min(first + 1, length - 1), place - first

    def take(rows, y, x):
        top, bottom, down = find(box[2], size[0], y)
        left, right, along = find(box[3], size[1], x)
        upper, lower = (
            rows[box[0] + row][box[1] + left] * (1 - along) +
            rows[box[0] + row][box[1] + right] * along for row in (top, bottom))
        return upper * (1 - down) + lower * down
    return [[[take(rows, y, x) for x in range(size[1])] for y in range(size[0])]
            for rows in image]


def mix(own, other, share):
    return [mix(a, b, share) if isinstance(a, list) else share * a + (1 - share) * b
            for a, b in zip(own, other)]


def mixup_share(sample, alpha):
    return sample.beta("mixup", alpha)


def cut_box(sample, height, width, alpha):
    """Returns the box that is cut out, and the share of the sample that is left."""
    root = math.sqrt(1 - sample.beta("cutmix", alpha))
    size = [2 * int(.5 * root * height), 2 * int(.5 * root * width)]
    box = sample.around("cutmix", height, width, size)
    ends = [min(max(box[i] + box[i + 2], 0), (height, width)[i]) for i in (0, 1)]
    begins = [min(max(box[i], 0), (height, width)[i]) for i in (0, 1)]
    rows, columns = (end - begin for begin, end in zip(begins, ends))
    return [*begins, rows, columns], 1 - rows * columns / (height * width)


def cutmix(own, other, box):
    return change(own, lambda c, y, x: (other if is_inside(box, y, x) else own)[c][y][x])

#include "number_sort.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kLeastPart = 1 << 16;
constexpr unsigned kDigit = 8;
constexpr size_t kDigits = 1 << kDigit;

/// Insertion sort that gives up where the numbers are far from their places; true where it is done.
bool sort_by_insertion(uint64_t* numbers, size_t size) {
  size_t moves = 0;
  for (size_t i = 1; i < size; ++i) {
    const uint64_t number = numbers[i];
    size_t at = i;
    while (at != 0 && numbers[at - 1] > number) {
      numbers[at] = numbers[at - 1];
      --at;
    }
    numbers[at] = number;
    moves += i - at;
    if (moves > 6 * i + 1024) return false;
  }
  return true;
}

/// Moves the numbers from one array to the other by one digit, keeping the order of equal ones.
void scatter(const uint64_t* from, uint64_t* to, size_t size, unsigned shift,
             std::array<size_t, kDigits>& place) {
  for (size_t i = 0; i < size; ++i) {
    to[place[from[i] >> shift & (kDigits - 1)]++] = from[i];
  }
}

/// Counts to places; false where all numbers have the same digit.
bool to_places(std::array<size_t, kDigits>& count, size_t size) {
  size_t before = 0;
  for (size_t& each : count) {
    if (each == size) return false;
    before += each;
    each = before - each;
  }
  return true;
}

void sort_by_digits(uint64_t* numbers, uint64_t* spare, size_t size, unsigned low_bit,
                    unsigned high_bit, const Stop& stop) {
  const unsigned passes = (high_bit - low_bit + kDigit - 1) / kDigit;
  std::vector<std::array<size_t, kDigits>> counts(passes);
  for (size_t i = 0; i < size; ++i) {
    uint64_t rest = numbers[i] >> low_bit;
    for (unsigned pass = 0; pass < passes; ++pass, rest >>= kDigit) {
      ++counts[pass][rest & (kDigits - 1)];
    }
  }
  uint64_t *from = numbers, *to = spare;
  for (unsigned pass = 0; pass < passes && !stop.asked(); ++pass) {
    if (!to_places(counts[pass], size)) continue;
    scatter(from, to, size, low_bit + pass * kDigit, counts[pass]);
    std::swap(from, to);
  }
  if (from != numbers) std::copy(from, from + size, numbers);
}

/// How many of the first `count` numbers of two sorted ranges together come from the first one.
size_t split_of(const uint64_t* one, size_t one_size, const uint64_t* two, size_t two_size,
                size_t count) {
  size_t low = count > two_size ? count - two_size : 0;
  size_t high = std::min(count, one_size);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (one[middle] < two[count - middle - 1]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Merges the neighbours [begin, middle) and [middle, end), each sorted.
void merge(uint64_t* numbers, uint64_t* spare, size_t begin, size_t middle, size_t end) {
  // What is in its place already stays there: of nearly sorted numbers that is almost all.
  begin = static_cast<size_t>(std::upper_bound(numbers + begin, numbers + middle, numbers[middle]) -
                              numbers);
  if (begin == middle) return;
  end = static_cast<size_t>(std::lower_bound(numbers + middle, numbers + end, numbers[middle - 1]) -
                            numbers);
  const uint64_t *one = numbers + begin, *two = numbers + middle;
  const size_t one_size = middle - begin, two_size = end - middle;
  for_parts(end - begin, kLeastPart, [&](size_t first, size_t last) {
    const size_t from = split_of(one, one_size, two, two_size, first);
    const size_t to = split_of(one, one_size, two, two_size, last);
    std::merge(one + from, one + to, two + (first - from), two + (last - to),
               spare + begin + first);
  });
  for_parts(end - begin, kLeastPart, [&](size_t first, size_t last) {
    std::copy(spare + begin + first, spare + begin + last, numbers + begin + first);
  });
}

}  // namespace

void sort_numbers(Column<uint64_t>& numbers, unsigned low_bit, unsigned high_bit,
                  const std::function<void()>& interrupted) {
  const size_t size = numbers.size();
  if (std::is_sorted(numbers.data(), numbers.data() + size)) return;
  Column<uint64_t> spare = sized_column<uint64_t>(size);
  const size_t parts = std::max<size_t>(std::min(thread_count(), size / kLeastPart), 1);
  std::vector<size_t> edges;
  for (size_t part = 0; part <= parts; ++part) edges.push_back(size * part / parts);
  std::vector<Task> tasks;
  for (size_t part = 0; part < parts; ++part) {
    uint64_t *mine = numbers.data() + edges[part], *spared = spare.data() + edges[part];
    const size_t count = edges[part + 1] - edges[part];
    tasks.emplace_back([=](const Stop& stop) {
      if (!sort_by_insertion(mine, count)) {
        sort_by_digits(mine, spared, count, low_bit, high_bit, stop);
      }
    });
  }
  if (parts == 1) {
    tasks.front()(Stop());
  } else {
    run_tasks(tasks, interrupted);
  }
  for (size_t width = 1; width < parts; width *= 2) {
    for (size_t part = 0; part + width < parts; part += 2 * width) {
      const size_t end = edges[std::min(part + 2 * width, parts)];
      merge(numbers.data(), spare.data(), edges[part], edges[part + width], end);
    }
  }
}

}  // namespace overlap_native

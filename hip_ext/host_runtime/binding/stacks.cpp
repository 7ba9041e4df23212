#include "stacks.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace hip_host_binding {
namespace {

using Frames = std::vector<std::string>;

constexpr size_t kMostFrames = 128;  // the innermost ones: deeper recursion says nothing new
constexpr size_t kMostStacks = 100'000;

struct Stacks {
  std::map<Frames, uint32_t> numbers;
  std::vector<const Frames*> in_order;
};

/// Used with the interpreter lock held only, and never destroyed: a call may still wait at exit.
Stacks& stacks() {
  static Stacks* known = new Stacks;
  return *known;
}

std::string text_of(PyObject* text) {
  const char* utf8 = text == nullptr ? nullptr : PyUnicode_AsUTF8(text);
  if (utf8 == nullptr) PyErr_Clear();  // a name with a lone surrogate
  return utf8 == nullptr ? "?" : utf8;
}

std::string words_of(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  const int line = std::max(PyFrame_GetLineNumber(frame), 0);
  std::string words =
      text_of(code->co_filename) + "(" + std::to_string(line) + "): " + text_of(code->co_name);
  Py_DECREF(code);
  return words;
}

Frames frames_of_this_thread() {
  Frames frames;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr && frames.size() < kMostFrames) {
    frames.push_back(words_of(frame));
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  std::reverse(frames.begin(), frames.end());
  return frames;
}

uint32_t number_of(Frames frames) {
  Stacks& known = stacks();
  const auto found = known.numbers.find(frames);
  if (found != known.numbers.end()) return found->second;
  if (frames.empty() || known.in_order.size() == kMostStacks) return 0;
  const auto number = static_cast<uint32_t>(known.in_order.size() + 1);
  const auto kept = known.numbers.emplace(std::move(frames), number).first;
  known.in_order.push_back(&kept->first);
  return number;
}

}  // namespace

uint32_t current_python_stack() noexcept {
  // A thread without a state of Python's runs no Python, and an interpreter that ends lends no
  // lock.
  if (!Py_IsInitialized() || PyGILState_GetThisThreadState() == nullptr) return 0;
  try {
    nb::gil_scoped_acquire held;
    return number_of(frames_of_this_thread());
  } catch (...) {  // no memory for the names: the call is recorded without
    return 0;
  }
}

nb::list python_stacks() {
  nb::list all;
  for (const Frames* frames : stacks().in_order) {
    nb::list one;
    for (const std::string& words : *frames) one.append(nb::str(words.c_str(), words.size()));
    all.append(nb::tuple(one));
  }
  return all;
}

}  // namespace hip_host_binding

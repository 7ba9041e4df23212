// What a call throws, as a string: tests look for the words that a user needs.
#pragma once

#include <stdexcept>
#include <string>

// "" if the call throws nothing; another type than Error passes through and ends the test.
template <typename Error, typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Which key of an object is which, and whether one came twice: told from the order in which keys
// came in earlier objects, as events of one kind are all written alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interned.h"
#include "same_bytes.h"

namespace overlap_native {

/// What a key means to who reads an object, and where the object stands, which decides that.
using KeyCode = uint8_t;
using PlaceCode = uint8_t;

constexpr KeyCode kOtherKey = 255;   // only checked for coming twice
constexpr PlaceCode kElsewhere = 0;  // where no key means anything

using KeyMeaning = KeyCode (*)(PlaceCode, std::string_view);

/// A tree of keys as they followed each other: most objects walk a known path, one comparison a
/// key.
class KeyOrders {
 public:
  /// Bytes that may be looked at behind any text that is read.
  static constexpr size_t kSpelled = 64;

  /// `meaning` is asked for the keys of `places` kinds of objects, `kElsewhere` among them.
  KeyOrders(KeyMeaning meaning, PlaceCode places);

  struct Node {
    /// How the key stood in the text last, from behind the value before it to its own value.
    std::array<char, kSpelled> spelled;
    uint32_t spelled_length = 0;  // 0: not known, or longer
    /// How the object ended in the text last, where this was its last key: blanks and the brace.
    std::array<char, kSpelled> closing;
    uint32_t closing_length = 0;
    uint64_t first = 0;   // the first eight bytes of the key
    uint32_t offset = 0;  // of the key in `text_`
    uint32_t length = 0;
    uint32_t parent = 0;
    uint32_t child = 0;    // the one last added; 0: none
    uint32_t sibling = 0;  // the next one under the same parent
    uint32_t recent = 0;   // the child that was walked last
    uint16_t children = 0;
    uint16_t depth = 0;
    KeyCode key = kOtherKey;
    PlaceCode place = kElsewhere;
    bool repeated = false;  // some key on the way here came twice
  };

  static uint32_t root(PlaceCode place) { return 1 + uint32_t{place}; }
  KeyCode meaning(PlaceCode place, std::string_view key) const {
    return place == kElsewhere ? kOtherKey : meaning_(place, key);
  }
  const Node& node(uint32_t at) const { return nodes_[at]; }
  std::string_view text(const Node& node) const {
    return {text_.data() + node.offset, node.length};
  }

  /// Whether the object ends at `text` as it did before; its length is then that of `closing`.
  bool closes(uint32_t at, const char* text) const {
    const Node& node = nodes_[at];
    return node.closing_length != 0 && same_bytes(node.closing.data(), text, node.closing_length);
  }
  /// Remember how an object ends.
  void spell_end(uint32_t at, const char* text, size_t length);

  /// The node behind `at` whose key stands at `text` as it stood before; 0 where there is none.
  uint32_t walk(uint32_t at, const char* text) {
    const uint32_t recent = nodes_[at].recent;
    if (recent != 0 && stands(nodes_[recent], text)) return recent;
    for (uint32_t next = nodes_[at].child; next != 0; next = nodes_[next].sibling) {
      if (stands(nodes_[next], text)) return nodes_[at].recent = next;
    }
    return 0;
  }
  /// Remember how the key of a node stands in the text.
  void spell(uint32_t at, const char* text, size_t length);

  /// The node behind `at` for a key of which eight bytes may be read; 0 where the tree is full.
  uint32_t step(uint32_t at, const char* key, size_t length);

 private:
  static bool stands(const Node& node, const char* text) {
    return node.spelled_length != 0 && same_bytes(node.spelled.data(), text, node.spelled_length);
  }
  bool is(const Node& node, const char* key, size_t length, uint64_t first) const;
  uint32_t add(uint32_t parent, const char* key, size_t length, uint64_t first);
  bool on_path(uint32_t at, const char* key, size_t length, uint64_t first) const;

  KeyMeaning meaning_;
  std::vector<Node> nodes_;
  std::string text_;
};

/// The keys of one object while it is read.
class ObjectKeys {
 public:
  ObjectKeys(KeyOrders& orders, PlaceCode place)
      : orders_(orders), at_(KeyOrders::root(place)), place_(place) {}

  /// The text behind the next key where it stands as it did in earlier objects, else nullptr.
  const char* walk(const char* text, KeyCode& key) {
    if (seen_ != nullptr) return nullptr;
    const uint32_t next = orders_.walk(at_, text);
    if (next == 0) return nullptr;
    at_ = next;
    key = orders_.node(next).key;
    return text + orders_.node(next).spelled_length;
  }
  /// The closing brace where the object ends as earlier ones did, else nullptr.
  const char* closes(const char* text) const {
    if (seen_ != nullptr || !orders_.closes(at_, text)) return nullptr;
    return text + orders_.node(at_).closing_length - 1;
  }
  void spell_end(const char* text, const char* brace) {
    if (seen_ == nullptr) orders_.spell_end(at_, text, static_cast<size_t>(brace - text) + 1);
  }
  /// The key added last stood between these.
  void spell(const char* text, const char* value) {
    if (seen_ == nullptr) orders_.spell(at_, text, static_cast<size_t>(value - text));
  }
  /// What the next key means.
  KeyCode add(const char* key, size_t length) {
    if (seen_ == nullptr) {
      const uint32_t next = orders_.step(at_, key, length);
      if (next != 0) {
        at_ = next;
        return orders_.node(next).key;
      }
    }
    return add_apart({key, length});
  }
  bool repeated() const { return repeated_ || orders_.node(at_).repeated; }

 private:
  KeyCode add_apart(std::string_view key);

  KeyOrders& orders_;
  uint32_t at_;
  PlaceCode place_;
  bool repeated_ = false;
  std::unique_ptr<Interned> seen_;  // only for orders that the tree has no room for
};

}  // namespace overlap_native

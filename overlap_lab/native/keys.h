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

/// Keys that mean something; all others are only checked for coming twice.
enum class Key : uint8_t {
  phase,
  category,
  name,
  process,
  thread,
  start,
  duration,
  // Of the arguments:
  correlation,
  device,
  stream,
  bytes,
  size,
  kind,
  graph,
  hsa_queue,
  queue,
  wait_stream,
  wait_correlation,
  count,
  arguments,
  other,
};

constexpr size_t kKeys = static_cast<size_t>(Key::count);

/// Where an object stands, which decides what its keys mean.
enum class Place : uint8_t { event, arguments, elsewhere };

/// A tree of keys as they followed each other: most objects walk a known path, one comparison a
/// key.
class KeyOrders {
 public:
  /// Bytes that may be looked at behind any text that is read.
  static constexpr size_t kSpelled = 64;

  KeyOrders();

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
    Key key = Key::other;
    Place place = Place::elsewhere;
    bool repeated = false;  // some key on the way here came twice
  };

  static uint32_t root(Place place) { return 1 + static_cast<uint32_t>(place); }
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

  std::vector<Node> nodes_;
  std::string text_;
};

/// The keys of one object while it is read.
class ObjectKeys {
 public:
  ObjectKeys(KeyOrders& orders, Place place)
      : orders_(orders), at_(KeyOrders::root(place)), place_(place) {}

  /// The text behind the next key where it stands as it did in earlier objects, else nullptr.
  const char* walk(const char* text, Key& key) {
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
  Key add(const char* key, size_t length) {
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
  Key add_apart(std::string_view key);

  KeyOrders& orders_;
  uint32_t at_;
  Place place_;
  bool repeated_ = false;
  std::unique_ptr<Interned> seen_;  // only for orders that the tree has no room for
};

}  // namespace overlap_native

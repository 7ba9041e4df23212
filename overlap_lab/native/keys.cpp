#include "keys.h"

#include <cstring>

namespace overlap_native {

namespace {

constexpr size_t kMaxNodes = 1 << 14;
constexpr uint16_t kMaxChildren = 64;
constexpr uint16_t kMaxDepth = 128;
constexpr uint32_t kMaxLength = 1 << 12;

uint64_t first_bytes(const char* key, size_t length) {
  uint64_t value;
  std::memcpy(&value, key, sizeof value);
  return length >= 8 ? value : value & ((uint64_t{1} << (8 * length)) - 1);
}

}  // namespace

KeyOrders::KeyOrders(KeyMeaning meaning, PlaceCode places)
    : meaning_(meaning), nodes_(1 + size_t{places}) {
  for (PlaceCode place = 0; place < places; ++place) nodes_[root(place)].place = place;
}

void KeyOrders::spell(uint32_t at, const char* text, size_t length) {
  if (length > kSpelled) return;
  std::memcpy(nodes_[at].spelled.data(), text, length);
  nodes_[at].spelled_length = static_cast<uint32_t>(length);
}

void KeyOrders::spell_end(uint32_t at, const char* text, size_t length) {
  if (length > kSpelled) return;
  std::memcpy(nodes_[at].closing.data(), text, length);
  nodes_[at].closing_length = static_cast<uint32_t>(length);
}

bool KeyOrders::is(const Node& node, const char* key, size_t length, uint64_t first) const {
  return node.first == first && node.length == length &&
         (length <= 8 || std::memcmp(text_.data() + node.offset + 8, key + 8, length - 8) == 0);
}

uint32_t KeyOrders::step(uint32_t at, const char* key, size_t length) {
  const uint64_t first = first_bytes(key, length);
  const uint32_t recent = nodes_[at].recent;
  if (recent != 0 && is(nodes_[recent], key, length, first)) return recent;
  uint32_t next = nodes_[at].child;
  while (next != 0 && !is(nodes_[next], key, length, first)) next = nodes_[next].sibling;
  if (next == 0) next = add(at, key, length, first);
  nodes_[at].recent = next;
  return next;
}

uint32_t KeyOrders::add(uint32_t parent, const char* key, size_t length, uint64_t first) {
  const Node& before = nodes_[parent];
  const bool full = nodes_.size() >= kMaxNodes || before.children >= kMaxChildren;
  if (full || before.depth >= kMaxDepth || length > kMaxLength) return 0;
  Node node;
  node.first = first;
  node.offset = static_cast<uint32_t>(text_.size());
  node.length = static_cast<uint32_t>(length);
  node.parent = parent;
  node.sibling = before.child;
  node.depth = static_cast<uint16_t>(before.depth + 1);
  node.place = before.place;
  node.key = meaning(before.place, {key, length});
  node.repeated = before.repeated || on_path(parent, key, length, first);
  text_.append(key, length);
  const auto at = static_cast<uint32_t>(nodes_.size());
  nodes_[parent].child = at;
  ++nodes_[parent].children;
  nodes_.push_back(node);
  return at;
}

bool KeyOrders::on_path(uint32_t at, const char* key, size_t length, uint64_t first) const {
  for (; nodes_[at].depth != 0; at = nodes_[at].parent) {
    if (is(nodes_[at], key, length, first)) return true;
  }
  return false;
}

KeyCode ObjectKeys::add_apart(std::string_view key) {
  if (seen_ == nullptr) {
    seen_ = std::make_unique<Interned>();
    for (const auto* node = &orders_.node(at_); node->depth != 0;
         node = &orders_.node(node->parent)) {
      seen_->code_of(orders_.text(*node));
    }
  }
  const size_t before = seen_->size();
  seen_->code_of(key);
  repeated_ |= seen_->size() == before;
  return orders_.meaning(place_, key);
}

}  // namespace overlap_native

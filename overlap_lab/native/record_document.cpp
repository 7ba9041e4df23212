#include "record_document.h"

#include <iterator>

namespace overlap_native {

namespace {

template <class Item>
void move_behind(std::vector<Item>& from, size_t first, std::vector<Item>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin() + static_cast<ptrdiff_t>(first)),
            std::make_move_iterator(from.end()));
}

}  // namespace

void RecordDocument::append(RecordDocument&& rest) {
  RecordProcess& from = rest.processes.front();
  RecordProcess& to = processes.back();
  move_behind(from.lists.front().parts, 0, to.lists.back().parts);
  move_behind(from.lists, 1, to.lists);
  move_behind(from.sections, 0, to.sections);
  move_behind(from.symbols, 0, to.symbols);
  move_behind(rest.processes, 1, processes);
}

}  // namespace overlap_native

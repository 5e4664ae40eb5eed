#include "core/query/virtual_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "core/base/numbers.h"
#include "core/query/source.h"
#include "core/query/sql_functions.h"

namespace heapgauge::query {

const Term* Scan::Find(int column, int op) const {
  for (const Term& term : terms) {
    if (term.column == column && term.op == op) return &term;
  }
  return nullptr;
}

bool IsComparison(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
         op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
         op == SQLITE_INDEX_CONSTRAINT_LE;
}

void Range::Restrict(int op, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL && IsComparison(op)) return Nothing();
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  // As a number x: least whole number >= x and greatest <= x, and whether x is whole itself.
  double real = 0;
  int64_t below = 0;
  int64_t above = 0;
  if (type == SQLITE_INTEGER) {
    below = above = sqlite3_value_int64(value);
  } else {
    real = sqlite3_value_double(value);
    if (!(std::fabs(real) < 9e18)) return;
    below = static_cast<int64_t>(std::floor(real));
    above = static_cast<int64_t>(std::ceil(real));
  }
  const bool whole = below == above;
  const auto least = [&](int64_t v) {
    if (v > 0) AtLeast(static_cast<uint64_t>(v));
  };
  const auto most = [&](int64_t v) {
    if (v < 0) {
      Nothing();
    } else {
      // Numbers that SQLite cannot hold are shown to it as the greatest that it can.
      if (v != INT64_MAX) AtMost(static_cast<uint64_t>(v));
    }
  };
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      if (!whole) return Nothing();
      least(below);
      most(below);
      break;
    case SQLITE_INDEX_CONSTRAINT_GE:
      least(above);
      break;
    case SQLITE_INDEX_CONSTRAINT_GT:
      least(below == INT64_MAX ? below : below + 1);
      break;
    case SQLITE_INDEX_CONSTRAINT_LE:
      most(below);
      break;
    case SQLITE_INDEX_CONSTRAINT_LT:
      if (above == INT64_MIN) return Nothing();
      most(above - 1);
      break;
    default:
      break;
  }
}

namespace {

struct VirtualTable : sqlite3_vtab {
  Table* table = nullptr;
};

struct VirtualCursor : sqlite3_vtab_cursor {
  std::unique_ptr<Cursor> cursor;
  // The scan of the last walk: in a join there is one for each row of another table.
  std::string text;
  Scan scan;
};

int FailWith(sqlite3_vtab* vtab, const Error& error) {
  sqlite3_free(vtab->zErrMsg);
  vtab->zErrMsg = sqlite3_mprintf("%s", error.message.c_str());
  return SQLITE_ERROR;
}

// Nothing may be thrown through SQLite.
template <typename Body>
int Guarded(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (...) {
    return SQLITE_INTERNAL;
  }
}

int Connect(sqlite3* db, void* aux, int, const char* const*, sqlite3_vtab** out, char** error) {
  return Guarded([&] {
    Table* table = static_cast<std::shared_ptr<Table>*>(aux)->get();
    if (const Status available = table->Available(); !available) {
      *error = sqlite3_mprintf("%s", available.error().message.c_str());
      return SQLITE_ERROR;
    }
    std::string declaration = "CREATE TABLE x(";
    const char* comma = "";
    for (const Column& column : table->columns()) {
      declaration += fmt::format("{}\"{}\" {}{}", comma, column.name, column.type,
                                 column.hidden ? " HIDDEN" : "");
      comma = ", ";
    }
    declaration += ")";
    table->source()->declaring = true;
    const int code = sqlite3_declare_vtab(db, declaration.c_str());
    table->source()->declaring = false;
    if (code != SQLITE_OK) return code;
    // What is read here was made by others, but reading it does nothing else.
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    auto* vtab = new VirtualTable;
    static_cast<sqlite3_vtab&>(*vtab) = {};
    vtab->table = table;
    *out = vtab;
    return SQLITE_OK;
  });
}

int Disconnect(sqlite3_vtab* vtab) {
  delete static_cast<VirtualTable*>(vtab);
  return SQLITE_OK;
}

// A scan as text, for SQLite to keep between planning and running.
std::string Encode(const Scan& scan) {
  std::string text = fmt::format("{}", scan.columns);
  for (const int column : scan.group_by) text += fmt::format(" g{}", column);
  for (const Term& term : scan.terms) text += fmt::format(" t{}:{}", term.column, term.op);
  return text;
}

Scan Decode(std::string_view text) {
  Scan scan;
  const auto number = [&](auto* value) {
    *value = TakeNumber<std::remove_pointer_t<decltype(value)>>(&text).value_or(0);
  };
  number(&scan.columns);
  while (text.size() > 1) {
    const char kind = text[1];
    text.remove_prefix(2);
    if (kind == 'g') {
      number(&scan.group_by.emplace_back());
      continue;
    }
    Term& term = scan.terms.emplace_back();
    number(&term.column);
    text.remove_prefix(1);
    number(&term.op);
  }
  return scan;
}

int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  return Guarded([&] {
    const Table& table = *static_cast<VirtualTable*>(vtab)->table;
    Scan scan;
    scan.columns = info->colUsed;
    for (int i = 0; i < info->nConstraint; ++i) {
      const auto& constraint = info->aConstraint[i];
      if (constraint.iColumn < 0) continue;
      const auto column = static_cast<size_t>(constraint.iColumn);
      Term term{constraint.iColumn, constraint.op};
      const bool list = sqlite3_vtab_in(info, i, -1) != 0;
      if (list && table.Accepts({constraint.iColumn, kOneOf})) term.op = kOneOf;
      if (!table.Accepts(term)) continue;
      if (constraint.usable == 0) {
        // Without its parameter such a table is another one; SQLite will try another order.
        if (table.columns()[column].hidden && term.op == SQLITE_INDEX_CONSTRAINT_EQ) {
          return SQLITE_CONSTRAINT;
        }
        continue;
      }
      if (term.op == kOneOf) sqlite3_vtab_in(info, i, 1);
      scan.terms.push_back(term);
      info->aConstraintUsage[i].argvIndex = static_cast<int>(scan.terms.size());
      info->aConstraintUsage[i].omit = table.Exact(term) ? 1 : 0;
    }
    const int distinct = sqlite3_vtab_distinct(info);
    // Groups come in ascending order all the same: SQLite leaves out an ORDER BY that says what
    // GROUP BY says.
    const auto* order = info->aOrderBy;
    const bool ascending =
        std::all_of(order, order + info->nOrderBy, [](const auto& term) { return term.desc == 0; });
    if ((distinct == 1 || distinct == 2) && ascending) {
      for (int i = 0; i < info->nOrderBy; ++i) scan.group_by.push_back(order[i].iColumn);
    }
    const Price price = table.PriceOf(scan);
    if (price.groups && !scan.group_by.empty()) {
      info->orderByConsumed = 1;
    } else {
      scan.group_by.clear();
    }
    info->estimatedCost = price.cost;
    info->estimatedRows = static_cast<sqlite3_int64>(price.rows);
    info->idxStr = sqlite3_mprintf("%s", Encode(scan).c_str());
    if (info->idxStr == nullptr) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    return SQLITE_OK;
  });
}

int Open(sqlite3_vtab* vtab, sqlite3_vtab_cursor** out) {
  return Guarded([&] {
    auto cursor = std::make_unique<VirtualCursor>();
    static_cast<sqlite3_vtab_cursor&>(*cursor) = {};
    cursor->cursor = static_cast<VirtualTable*>(vtab)->table->Open();
    *out = cursor.release();
    return SQLITE_OK;
  });
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<VirtualCursor*>(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* base, int, const char* text, int count, sqlite3_value** values) {
  return Guarded([&] {
    auto* cursor = static_cast<VirtualCursor*>(base);
    if (cursor->text != text) {
      cursor->text = text;
      cursor->scan = Decode(text);
    }
    if (cursor->scan.terms.size() != static_cast<size_t>(count)) return SQLITE_INTERNAL;
    const Status started =
        cursor->cursor->Start(cursor->scan, {values, static_cast<size_t>(count)});
    return started ? SQLITE_OK : FailWith(base->pVtab, started.error());
  });
}

int Next(sqlite3_vtab_cursor* base) {
  return Guarded([&] {
    const Status next = static_cast<VirtualCursor*>(base)->cursor->Next();
    return next ? SQLITE_OK : FailWith(base->pVtab, next.error());
  });
}

int Eof(sqlite3_vtab_cursor* cursor) {
  return static_cast<VirtualCursor*>(cursor)->cursor->at_end() ? 1 : 0;
}

int Get(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int column) {
  return Guarded([&] {
    static_cast<VirtualCursor*>(cursor)->cursor->Get(column, out);
    return SQLITE_OK;
  });
}

int RowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<VirtualCursor*>(cursor)->cursor->row_id();
  return SQLITE_OK;
}

// Functions of a column that tables may use as conditions. They stay what they are.
int FindFunction(sqlite3_vtab* vtab, int arguments, const char* name, SqlFunction* function,
                 void** data) {
  if (arguments != 2) return 0;
  const SqlOverload* found = FindOverload(name);
  if (found == nullptr) return 0;
  *function = found->function;
  *data = static_cast<VirtualTable*>(vtab)->table->source();
  return found->op;
}

sqlite3_module MakeModule() {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xDestroy = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = Get;
  module.xRowid = RowId;
  module.xFindFunction = FindFunction;
  return module;
}

}  // namespace

Status Register(sqlite3* db, std::shared_ptr<Table> table, const char* other_name) {
  static const sqlite3_module kModule = MakeModule();
  for (const char* name : {table->name(), other_name}) {
    if (name == nullptr) continue;
    auto* owner = new std::shared_ptr<Table>(table);
    const int code = sqlite3_create_module_v2(db, name, &kModule, owner, [](void* aux) {
      delete static_cast<std::shared_ptr<Table>*>(aux);
    });
    if (code != SQLITE_OK) {
      return Fail(ErrorCode::kIo,
                  fmt::format("SQLite refused table {}: {}", name, sqlite3_errmsg(db)));
    }
  }
  return {};
}

}  // namespace heapgauge::query

import assert from "node:assert/strict";
import { test } from "node:test";
import { cutName } from "./names";

test("template arguments go first, then outer scopes, then the end", () => {
  const name = "std::_Rb_tree<int, std::pair<…>>::_Auto_node::_Auto_node<std::tuple<…>, B>";
  assert.equal(cutName(name, 80), name);
  assert.equal(cutName(name, 60), "std::_Rb_tree<…>::_Auto_node::_Auto_node<…>");
  assert.equal(cutName(name, 40), "…_Rb_tree<…>::_Auto_node::_Auto_node<…>");
  assert.equal(cutName(name, 30), "…_Auto_node::_Auto_node<…>");
  assert.equal(cutName(name, 15), "…_Auto_node<…>");
  assert.equal(cutName(name, 8), "_Auto_n…");
  assert.equal(cutName("Reply::Format", 10), "…Format");
  assert.equal(cutName("main", 3), "ma…");
});

test("lambdas keep the function around them, and operators their signs", () => {
  assert.equal(cutName("shop::Server::Run::{lambda#2}::operator()", 32), "…Run::{lambda#2}::operator()");
  assert.equal(cutName("ns::C<int>::operator<", 14), "…operator<");
  assert.equal(cutName("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", 20), "…extend");
});

test("any text is cut to the room there is", () => {
  for (const name of ["<<<<<<<<", ">>>>>>::::", "a::b::", "::::::", "(((((", "x".repeat(10_000), "a<".repeat(500)]) {
    for (const room of [1, 3, 7]) assert.ok(cutName(name, room).length <= Math.max(room, 1), `${name.slice(0, 20)} in ${room}`);
  }
});

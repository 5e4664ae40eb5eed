import assert from "node:assert/strict";
import { test } from "node:test";
import { programName } from "./sources";

test("a program is called by the words it was started with, as on the command line", () => {
  const name = (program: string, ...command_line: string[]) => programName({ program, command_line });
  assert.equal(name("/usr/lib/llvm-14/bin/clang", "/usr/bin/clang++", "-c"), "clang++");
  assert.equal(name("/usr/sbin/nginx", "nginx: master process nginx -c /etc/nginx.conf"), "nginx");
  assert.equal(name("/bin/bash", "-bash"), "bash");
  assert.equal(name("/usr/bin/server"), "server");
  assert.equal(name("/usr/bin/server", ""), "server");
});

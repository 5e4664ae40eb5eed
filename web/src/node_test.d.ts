// What the unit tests use of node; they are not part of the page.

declare module "node:test" {
  export function test(name: string, run: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
  interface Assert {
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    notEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(value: unknown, message?: string): void;
    match(text: string, expression: RegExp, message?: string): void;
    throws(run: () => unknown): void;
    rejects(run: Promise<unknown> | (() => Promise<unknown>), expression?: RegExp): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}

declare module "node:zlib" {
  export function gzipSync(text: string): { toString(encoding: "base64"): string };
}

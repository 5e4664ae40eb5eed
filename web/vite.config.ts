import { defineConfig } from "vite";

// One page, one script, one style sheet, side by side, found relative to the page: it works below any path.
export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    assetsDir: "",
    modulePreload: false,
    reportCompressedSize: false,
    target: "es2021",
    rollupOptions: {
      output: {
        entryFileNames: "heapgauge.js",
        chunkFileNames: "[name].js",
        assetFileNames: "heapgauge[extname]",
      },
    },
  },
});

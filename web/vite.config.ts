import { defineConfig } from "vite";

// One page, one script, one style sheet, and what is loaded later, side by side, found relative to the page: it works
// below any path.
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
        // What the editor for SQL and the lines of source share.
        manualChunks: (id) => (/node_modules\/(@codemirror\/(autocomplete|commands|language|state|view)|@lezer\/(common|highlight|lr)|@marijn|crelt|style-mod|w3c-keyname)\//.test(id) ? "codemirror" : undefined),
        assetFileNames: "heapgauge[extname]",
      },
    },
  },
});

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The built page is kept in the repository and in the wheel: names without digests of contents keep its history readable.
export default defineConfig({
  plugins: [react()],
  base: "./",
  build: {
    outDir: "../toolgen/adapters/http/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"] },
});

import v8 from 'node:v8';

/**
 * Lets V8 optimize a function of Prisma's query compiler, which is WebAssembly, only after it has run 22 times as long as by default: 40 million bytes of its code. The queries of a
 * start would otherwise have some 60 functions optimized, which takes 100 ms of CPU and leaves 13 MB in malloc's heap (docs/performance.md, "Memory"). Under load, a function
 * reaches this within a second. Affects WebAssembly that is compiled from now on.
 */
export function tierUpLater(): void {
  v8.setFlagsFromString('--wasm-tiering-budget=40000000');
}

// The bundler collects imported styles into a file of its own.
declare module '*.css';

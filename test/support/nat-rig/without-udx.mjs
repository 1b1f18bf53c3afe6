import { register } from 'node:module';

// A machine on which the optional package does not run: its import fails.
register(`data:text/javascript,${
  encodeURIComponent(`
  export function resolve(specifier, context, next) {
    if (specifier === 'udx-native') throw new Error('udx-native does not run here');
    return next(specifier, context);
  }`)
}`);

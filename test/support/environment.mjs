import { types } from 'node:util';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Node as the tests see it. jest runs each test file in a realm of its own, where an error of Node (a file that is missing, a
 * port in use) is no `instanceof Error` as it is in the program. Here it is one again.
 */
export default class Environment extends TestEnvironment {
  /** Called by jest before a test file runs. */
  async setup() {
    await super.setup();
    const { Error } = this.global;
    const ordinary = Function.prototype[Symbol.hasInstance];
    Object.defineProperty(Error, Symbol.hasInstance, {
      value(value) {
        return ordinary.call(this, value) || (this === Error && types.isNativeError(value));
      },
    });
  }
}

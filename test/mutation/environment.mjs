import Environment from '../support/runtime/environment.mjs';

/** The environment of all suites, in which a suite ends at its first failure: the tests after it are skipped. */
export default class FailFastEnvironment extends Environment {
  #failed = false;

  /** Called by jest-circus. */
  handleTestEvent({ name, test }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#failed = true;
    if (name === 'test_start' && this.#failed) test.mode = 'skip';
  }
}

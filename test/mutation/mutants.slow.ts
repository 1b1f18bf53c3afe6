// Short form: test/mutation/mutants.test.ts
import './mutants.test.ts';

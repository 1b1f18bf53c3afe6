// Short form: test/legacy/input.test.ts
import './input.test.ts';

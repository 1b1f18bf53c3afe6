// Short form: test/engine/leaks.test.ts
import './leaks.test.ts';

// Short form: test/fuzz/live.test.ts
import './live.test.ts';

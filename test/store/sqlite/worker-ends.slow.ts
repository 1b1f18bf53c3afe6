// Short form: test/store/sqlite/worker-ends.test.ts
import './worker-ends.test.ts';

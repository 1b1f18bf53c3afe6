// Short form: test/store/busy-database.test.ts
import './busy-database.test.ts';

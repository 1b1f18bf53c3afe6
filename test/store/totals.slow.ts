// Short form: test/store/totals.test.ts
import './totals.test.ts';

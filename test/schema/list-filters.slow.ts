// Short form: test/schema/list-filters.test.ts
import './list-filters.test.ts';

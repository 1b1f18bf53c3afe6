// Short form: test/store/search-index.test.ts
import './search-index.test.ts';

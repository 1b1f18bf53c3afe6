// Short form: test/store/schema-agreement.test.ts
import './schema-agreement.test.ts';

// Short form: test/project/api-doc.test.ts
import './api-doc.test.ts';

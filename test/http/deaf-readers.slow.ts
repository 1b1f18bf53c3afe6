// Short form: test/http/deaf-readers.test.ts
import './deaf-readers.test.ts';

// Short form: test/http/costly-operations.test.ts
import './costly-operations.test.ts';

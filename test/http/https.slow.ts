// Short form: test/http/https.test.ts
import './https.test.ts';

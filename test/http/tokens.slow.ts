// Short form: test/http/tokens.test.ts
import './tokens.test.ts';

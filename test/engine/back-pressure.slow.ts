// Short form: test/engine/back-pressure.test.ts
import './back-pressure.test.ts';

// Short form: test/http/login-time.test.ts
import './login-time.test.ts';

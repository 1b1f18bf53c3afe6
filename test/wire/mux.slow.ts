// Short form: test/wire/mux.test.ts
import './mux.test.ts';

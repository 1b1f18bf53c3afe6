// Short form: test/engine/acme/acme.test.ts
import './acme.test.ts';

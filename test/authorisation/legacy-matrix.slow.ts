// Short form: test/authorisation/legacy-matrix.test.ts
import './legacy-matrix.test.ts';

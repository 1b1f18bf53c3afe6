// Short form: test/authorisation/subscription-matrix.test.ts
import './subscription-matrix.test.ts';

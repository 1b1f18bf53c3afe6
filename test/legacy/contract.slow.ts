// Short form: test/legacy/contract.test.ts
import './contract.test.ts';

// Short form: test/project/left-behind.test.ts
import './left-behind.test.ts';

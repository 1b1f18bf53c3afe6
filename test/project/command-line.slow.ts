// Short form: test/project/command-line.test.ts
import './command-line.test.ts';

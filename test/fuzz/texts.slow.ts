// Short form: test/fuzz/texts.test.ts
import './texts.test.ts';

// Short form: test/engine/every-mode.test.ts
import './every-mode.test.ts';

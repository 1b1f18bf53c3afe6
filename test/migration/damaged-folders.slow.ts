// Short form: test/migration/damaged-folders.test.ts
import './damaged-folders.test.ts';

// Short form: test/store/migrations.test.ts
import './migrations.test.ts';

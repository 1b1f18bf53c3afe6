// Short form: test/model/model.test.ts
import './model.test.ts';

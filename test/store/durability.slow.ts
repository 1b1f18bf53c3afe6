// Short form: test/store/durability.test.ts
import './durability.test.ts';

// Short form: test/wire/sockets.test.ts
import './sockets.test.ts';

// Short form: test/wire/choose-sockets.test.ts
import './choose-sockets.test.ts';

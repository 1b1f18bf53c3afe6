// Short form: test/engine/vhost/http2.test.ts
import './http2.test.ts';

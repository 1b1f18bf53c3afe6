// Short form: test/migration/round-trip.test.ts
import './round-trip.test.ts';

// Short form: test/authorisation/graphql-matrix.test.ts
import './graphql-matrix.test.ts';

// Loaded into an agent under test: all its random waits are a tenth as long, so that it soon connects again.
const random = Math.random;
Math.random = () => random() / 10;

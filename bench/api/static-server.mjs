import { readFileSync } from 'node:fs';
import process from 'node:process';
import express from 'express';

// What Express alone can do: the object in the file that is named, as JSON, at /page.
const page = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const app = express();
app.all('/page', (_, response) => response.json(page));
const server = app.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));

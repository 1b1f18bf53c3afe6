// Argument: a SQLite file. Holds its lock, as a backup tool or a shell would, from the line "locked" until it is killed.
import { openDatabase } from '../../../src/store/sqlite/binding.ts';

const database = openDatabase(process.argv[2] ?? '', { busyMs: 5000 });
database.exec('BEGIN IMMEDIATE');
process.stdout.write('locked\n');
setInterval(() => database.exec('SELECT 1'), 60_000);

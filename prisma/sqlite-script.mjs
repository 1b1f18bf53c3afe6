import { openDatabase } from '../src/store/sqlite/binding.ts';
import { sqliteCatalogue } from './catalogue-adapters.mjs';
import { schemaDiff } from './schema-engine.mjs';

/**
 * The migration from the tables of an SQLite file to a data model; '' when they agree. For a column with a default Prisma replaces the whole table,
 * which drops its triggers, and the indexes that only the migrations know. Where all that a script does is add columns and indexes, they are added in place.
 * @param {string} file of a database that nobody needs any more: the script is tried on it
 * @param {string} model text of a Prisma schema
 * @returns {Promise<string>}
 */
export async function sqliteScript(file, model) {
  const script = await schemaDiff(sqliteCatalogue(file), model);
  const inPlace = additions(file, script);
  if (inPlace === undefined) return script;
  run(file, (database) => database.exec(inPlace));
  // Whatever else the replaced tables would have changed is missing now.
  return await schemaDiff(sqliteCatalogue(file), model) === '' ? inPlace : script;
}

const replaced = /^-- RedefineTables\n.*?^PRAGMA defer_foreign_keys=OFF;\n/gms;

/** The script with its tables changed in place; undefined = it replaces none, or SQLite can't add a column like that. */
function additions(file, script) {
  let possible = replaced.test(script);
  const inPlace = script.replace(replaced, (part) =>
    run(file, (database) => {
      const has = (sql, name) => database.prepare(sql).all(...name).length > 0;
      const columns = [...part.matchAll(/^CREATE TABLE "new_(\w+)" \(\n(.*?)^\);$/gms)].flatMap(([, table, body]) =>
        [...body.matchAll(/^ +("(\w+)" .*?),?$/gm)]
          .filter(([, , name]) => !has('SELECT 1 FROM pragma_table_info(?) WHERE name = ?', [table, name]))
          .map(([, definition]) => ({ table, definition }))
      );
      const indexes = [...part.matchAll(/^CREATE (?:UNIQUE )?INDEX "(\w+)".*;$/gm)].filter(([, name]) =>
        !has("SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?", [name])
      );
      // What SQLite refuses where a table has rows; this one has none.
      possible &&= columns.every(({ definition }) => !/ NOT NULL(?!.* DEFAULT )| DEFAULT CURRENT_| DEFAULT \(/.test(definition));
      return [
        ...columns.map(({ table, definition }) => `ALTER TABLE "${table}" ADD COLUMN ${definition};\n`),
        ...indexes.map(([statement]) => `${statement}\n`),
      ].join('');
    }));
  return possible ? `-- Columns are added in place: replacing the tables would drop their triggers and text indexes.\n${inPlace}` : undefined;
}

function run(file, work) {
  const database = openDatabase(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

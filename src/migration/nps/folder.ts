import { existsSync, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import type { z } from 'zod';
import { platformDomainId } from '../../rules/platform-domain.ts';
import { ImportSet } from '../../schema/import/records.ts';
import { type ConfProblem, type NpsConf, parseConf, readConfText } from './conf.ts';
import { convertClient, convertHost, convertUser, fileOf, type RecordRules } from './convert.ts';
import { convertTunnel } from './convert-tunnel.ts';
import { unescaped } from './escaped-text.ts';
import { type Findings, RecordFindings } from './findings.ts';
import { fileFault, type Piece, pieceOf, piecesOf, readWhole } from './pieces.ts';
import { npsClient, npsGlobal, npsHost, npsTunnel, npsUser } from './records.ts';

/** A data folder as it was read. */
export interface NpsFolder extends Findings {
  readonly set: ImportSet;
  /** Remarks on the folder as a whole. */
  readonly remarks: readonly string[];
}

/** Reads a data folder of NPS: everything that can be imported, and all problems with the rest. Changes nothing. @param directory its `conf` */
export function readNpsFolder(directory: string): NpsFolder {
  return new FolderReader(directory).read();
}

type Kind = 'user' | 'client' | 'tunnel' | 'host';

class FolderReader implements NpsFolder {
  readonly set = new ImportSet();
  readonly problems: NpsFolder['problems'] = [];
  readonly leftOut: NpsFolder['leftOut'] = [];
  readonly notes: NpsFolder['notes'] = [];
  readonly remarks: string[] = [];
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = path.resolve(directory);
  }

  read(): NpsFolder {
    if (!existsSync(this.#directory) || !statSync(this.#directory).isDirectory()) {
      this.#fileProblem('', `${this.#directory} is not a directory`);
      return this;
    }
    const rules = { limits: this.#limits(), programDirectory: path.dirname(this.#directory) };
    const found = [
      this.#file('users.json', 'user', npsUser, (user, findings) => convertUser(user, findings)),
      this.#file('clients.json', 'client', npsClient, (client, findings) => convertClient(client, rules, findings)),
      this.#file('tasks.json', 'tunnel', npsTunnel, (tunnel, findings) => convertTunnel(tunnel, findings)),
      this.#file('hosts.json', 'host', npsHost, (host, findings) => convertHost(host, rules, findings)),
    ];
    this.#global(rules);
    if (!found.includes(true)) this.#fileProblem('', 'has none of clients.json, tasks.json, hosts.json, users.json: name the conf directory of NPS');
    return this;
  }

  #limits(): RecordRules['limits'] {
    const all = { flow: true, rate: true, tunnels: true, connections: true };
    const file = this.#existing('nps.conf');
    if (file === undefined) {
      this.remarks.push('nps.conf is missing: all limits in the records apply. If NPS had them switched off, put its nps.conf into the folder.');
      return all;
    }
    let conf: NpsConf;
    try {
      const problems: ConfProblem[] = [];
      conf = parseConf(readConfText(file), problems);
      // The other keys are no concern of an import.
      for (const { key = '', line, text } of problems) if (/^allow_\w+_limit$/.test(key)) this.#fileProblem('nps.conf', `line ${line}: ${text}`);
    } catch (error) {
      this.#fileProblem('nps.conf', error instanceof Error ? error.message : String(error));
      return all;
    }
    const off = ['allow_flow_limit', 'allow_rate_limit', 'allow_tunnel_num_limit', 'allow_connection_num_limit'].filter((key) => conf.isOff(key));
    this.remarks.push(
      off.length === 0 ? 'All limits in the records apply.' : `nps.conf switches limits off (${off.join(', ')}): they are imported as unlimited.`,
    );
    return {
      flow: !conf.isOff('allow_flow_limit'),
      rate: !conf.isOff('allow_rate_limit'),
      tunnels: !conf.isOff('allow_tunnel_num_limit'),
      connections: !conf.isOff('allow_connection_num_limit'),
    };
  }

  /** Reads a file of records. @returns whether it exists */
  #file<Schema extends z.ZodType<{ readonly Id: number }>>(
    name: string,
    kind: Kind,
    schema: Schema,
    convert: (record: z.output<Schema>, findings: RecordFindings) => Parameters<ImportSet['add']>[0] | undefined,
  ): boolean {
    const file = this.#existing(name);
    if (file === undefined) return false;
    try {
      const fault = fileFault(file);
      if (fault !== undefined) this.#fileProblem(name, fault);
      const seen = new Map<number, string>();
      if (fault === undefined) { for (const piece of piecesOf(file)) this.#piece(name, kind, schema, convert, piece, seen); }
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      this.#fileProblem(name, error.message);
    }
    return true;
  }

  #piece<Schema extends z.ZodType<{ readonly Id: number }>>(
    name: string,
    kind: Kind,
    schema: Schema,
    convert: (record: z.output<Schema>, findings: RecordFindings) => Parameters<ImportSet['add']>[0] | undefined,
    { number, id, value, faults }: Piece,
    seen: Map<number, string>,
  ): void {
    if (value === null) {
      this.leftOut.push({ source: `${name}: record ${number}`, text: 'is null: NPS skips it, too' });
      return;
    }
    const known = id ?? idOf(value);
    const findings = new RecordFindings(this, known === undefined ? `${name}: record ${number}` : `${name}: Id ${known}`);
    for (const { field, text } of faults) findings.problem(field, text);
    if (known !== undefined && Number.isSafeInteger(Number(known)) && Number(known) > 0 && Number(known) < 2 ** 31) {
      if (seen.has(Number(known))) findings.problem('Id', `occurs twice: record ${number} and ${seen.get(Number(known))}`);
      seen.set(Number(known), `record ${number}`);
      if (faults.length > 0) this.set.leftOut[kind].add(Number(known));
    }
    if (value === undefined) return;
    const checked = schema.safeParse(value);
    if (!checked.success) {
      for (const issue of checked.error.issues) findings.problem(issue.path.join('.'), issue.message);
    }
    const record = checked.success ? convert(checked.data, findings) : undefined;
    if (record !== undefined && !findings.broken) this.set.add(record);
    else if (known !== undefined && Number(known) > 0 && Number(known) < 2 ** 31) this.set.leftOut[kind].add(Number(known));
  }

  #global({ programDirectory }: RecordRules): void {
    const file = this.#existing('global.json');
    if (file === undefined) return;
    const findings = new RecordFindings(this, 'global.json');
    let bytes: Buffer;
    try {
      bytes = readWhole(file);
    } catch (error) {
      findings.problem('', error instanceof Error ? error.message : String(error));
      return;
    }
    if (bytes.toString('latin1').trim() === '') return;
    const piece = pieceOf(bytes, 1);
    if (piece.value === null) return;
    for (const { field, text } of piece.faults) findings.problem(field, text);
    const checked = npsGlobal.safeParse(piece.value ?? {});
    if (!checked.success) { for (const issue of checked.error.issues) findings.problem(issue.path.join('.'), issue.message); }
    if (!checked.success || findings.broken) return;
    const { BlackIpList, ServerUrl, PlatformDomains } = checked.data;
    this.set.add({ kind: 'globalSettings', source: 'global.json', blocklist: BlackIpList.map(unescaped), serverUrl: unescaped(ServerUrl) });
    for (const { ID, Wildcard, CertFilePath, KeyFilePath } of PlatformDomains) {
      const source = `global.json: PlatformDomains ${ID === '' ? Wildcard : ID}`;
      const own = new RecordFindings(this, source);
      this.set.add({
        kind: 'platformDomain',
        source,
        id: ID.trim() === '' ? platformDomainId(Wildcard, new Set()) : ID.trim(),
        wildcard: Wildcard,
        certificatePath: fileOf(own, 'CertFilePath', CertFilePath, programDirectory),
        privateKeyPath: fileOf(own, 'KeyFilePath', KeyFilePath, programDirectory),
      });
    }
  }

  /** The path of a file; undefined = there is none. */
  #existing(name: string): string | undefined {
    const file = path.join(this.#directory, name);
    if (existsSync(`${file}.tmp`)) this.remarks.push(`${name}.tmp is a write that never finished: it is not read.`);
    // Not existsSync: a link to a file that is missing must not look like a folder without these records.
    return lstatSync(file, { throwIfNoEntry: false }) === undefined ? undefined : file;
  }

  #fileProblem(name: string, text: string): void {
    this.problems.push({ source: name === '' ? this.#directory : name, field: '', text });
  }
}

function idOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('Id' in value)) return undefined;
  return typeof value.Id === 'number' && Number.isSafeInteger(value.Id) ? String(value.Id) : undefined;
}

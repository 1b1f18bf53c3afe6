import { execFile } from 'node:child_process';
import { programPath } from './find-program.ts';

/** What curl said and how it ended. */
export interface CurlResult {
  /** curl's exit code; 0 = done */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs curl without the user's settings; `input` is its standard input. */
export function curl(args: readonly string[], input = ''): Promise<CurlResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      programPath('curl'),
      ['-q', '-sS', '--max-time', '20', ...args],
      { env: {}, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error && typeof error.code !== 'number') reject(error);
        else resolve({ code: error && typeof error.code === 'number' ? error.code : 0, stdout, stderr });
      },
    );
    child.stdin?.end(input);
  });
}

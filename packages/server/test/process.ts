import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'

export interface Started {
  process: ChildProcess
  output(): string
  /** Ends it with a signal and waits for its end. @returns its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts a program of this repository; resolves when its output matches `ready`, rejects if it ends before. */
export async function startProcess(
  path: string,
  args: string[],
  environment: Record<string, string>,
  ready: RegExp,
): Promise<Started> {
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const exited = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      if (ready.test(output)) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code}:\n${output}`)))
  })
  return {
    process: child,
    output: () => output,
    end: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        await exited
      }
      return child.exitCode
    },
  }
}

/** A `cdsctl` command in a process of its own. */
export interface RunningCommand {
  process: ChildProcess
  /** Its exit status, or the signal that ended it, and what it printed. */
  ended: Promise<{ exit: number | NodeJS.Signals; stdout: string; stderr: string }>
}

/** Starts `cdsctl ARGS --json`. @param input what it reads from standard input, which then ends; null: it stays open */
export function startCommand(
  args: string[],
  environment: Record<string, string>,
  { input = '', directory }: { input?: string | Buffer | null; directory?: string } = {},
): RunningCommand {
  const child = spawn(process.execPath, [resolve(CLI), ...args, '--json'], {
    env: { ...process.env, ...environment },
    ...(directory === undefined ? {} : { cwd: directory }),
  })
  // A process that is killed, or rejects the call, does not read all of it.
  child.stdin.on('error', () => {})
  if (input !== null) child.stdin.end(input)
  const ended = async () => {
    const [[code, signal], stdout, stderr] = await Promise.all([
      once(child, 'exit'),
      text(child.stdout),
      text(child.stderr),
    ])
    return { exit: code ?? signal, stdout, stderr }
  }
  return { process: child, ended: ended() }
}

/**
 * A new directory that every user can enter: root runs PostgreSQL as another one. It is in memory, because creating a
 * file on a disk takes a lot of processor time, and has a space in its name.
 */
export async function openDirectory(parent = inject('runDirectory')): Promise<string> {
  const directory = await mkdtemp(join(parent, 'cds test '))
  await chmod(directory, 0o755)
  return directory
}

export const MAIN = 'packages/server/src/main.ts'
export const CLI = 'packages/server/src/cli.ts'
export const RUNNING = /is running at (\S+)/

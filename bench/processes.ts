import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Running {
  process: ChildProcess
  /** Milliseconds from the start of the process to the line that says it is ready. */
  startMs: number
  /** Its output so far. */
  output(): string
  stop(): Promise<void>
}

/** Starts a program of this repository and waits until it prints `ready`. */
export async function start(
  path: string,
  args: string[],
  environment: Record<string, string>,
  ready: RegExp,
): Promise<Running> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [fileURLToPath(new URL(path, import.meta.url)), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk
      if (ready.test(output)) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`${path} ended early:\n${output}`)))
  })
  return {
    process: child,
    output: () => output,
    startMs: performance.now() - startedAt,
    stop: async () => {
      if (child.exitCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Runs a program of this repository to its end; its standard error is shown. @throws if it fails. */
export async function run(path: string, args: string[], environment: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(path, import.meta.url)), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${path} failed`)
}

/** Memory of a process and all its children in MB, with shared pages counted once (Linux only; null elsewhere). */
export function memoryOf(pid: number): number | null {
  if (process.platform !== 'linux') return null
  const pids = [pid]
  for (let index = 0; index < pids.length; index++) pids.push(...childrenOf(pids[index] ?? 0))
  const kilobytes = pids.map((each) => {
    return Number(/^Pss:\s+(\d+)/m.exec(rollupOf(each))?.[1] ?? 0)
  })
  return Math.round(kilobytes.reduce((sum, kB) => sum + kB, 0) / 1024)
}

/** Empty for a process that has ended. */
function rollupOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  } catch {
    return ''
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        return (
          Number(
            readFileSync(`/proc/${candidate}/stat`, 'utf8')
              .replace(/^.*\) /, '')
              .split(' ')[1],
          ) === pid
        )
      } catch {
        return false
      }
    })
}

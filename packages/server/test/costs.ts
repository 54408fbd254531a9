import { appendFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { inject } from 'vitest'

/** Where a run with TEST_COSTS=on stores what its files cost; `scripts/test-costs.ts` prints the table. */
export const COSTS = 'node_modules/.cache/test-costs'

/** What a test file cost: milliseconds of the clock, and of processors (user and system). */
export interface Cost {
  file: string
  wallMs: number
  workerMs: number
  browserMs: number
  postgresMs: number
  /** Other processes that the file started. */
  processesMs: number
}

interface Process {
  pid: number
  parent: number
  name: string
  ownMs: number
  /** Of its children that have ended, and theirs. */
  childrenMs: number
}

/** A tick of /proc's times. */
const TICK_MS = 10
const SAMPLE_EVERY_MS = 1_000
/** Before a file replaces the timers. */
const { setInterval: every, clearInterval: end } = globalThis

const readsProc = process.env.TEST_COSTS === 'on' && process.platform === 'linux'

/** Measures the file that a worker starts. @returns what stores the cost, at the file's end. */
export function measureCost(testPath: string): () => void {
  if (!readsProc) return () => {}
  const startedAt = performance.now()
  const before = read()
  // PostgreSQL's processes end with their connections, before the file does.
  const backends = new Map<number, number>()
  const sample = () => {
    for (const { pid, ownMs } of backendsOfWorker()) backends.set(pid, ownMs)
  }
  sample()
  const first = new Map(backends)
  const timer = every(sample, SAMPLE_EVERY_MS).unref()
  return () => {
    end(timer)
    sample()
    const after = read()
    const cost: Cost = {
      file: relative(process.cwd(), testPath),
      wallMs: performance.now() - startedAt,
      workerMs: after.worker - before.worker,
      browserMs: after.browser - before.browser,
      processesMs: after.processes - before.processes,
      postgresMs: sum([...backends].map(([pid, ms]) => ms - (first.get(pid) ?? 0))),
    }
    mkdirSync(COSTS, { recursive: true })
    appendFileSync(`${COSTS}/${process.pid}.jsonl`, `${JSON.stringify(cost)}\n`)
  }
}

function read(): { worker: number; browser: number; processes: number } {
  const all = processes()
  const own = all.find(({ pid }) => pid === process.pid)
  const descendants = descendantsOf(process.pid, all)
  const [browser, others] = [descendants.filter(isBrowser), descendants.filter((one) => !isBrowser(one))]
  const total = (some: Process[]) => sum(some.map(({ ownMs, childrenMs }) => ownMs + childrenMs))
  return { worker: own?.ownMs ?? 0, browser: total(browser), processes: total(others) + (own?.childrenMs ?? 0) }
}

const isBrowser = ({ name }: Process) => /^(chrom|headless_shell)/.test(name)

function descendantsOf(ancestor: number, all: Process[]): Process[] {
  const children = all.filter(({ parent }) => parent === ancestor)
  return children.flatMap((child) => [child, ...descendantsOf(child.pid, all)])
}

/**
 * The run's PostgreSQL has a process for each connection, whose title names the database, and so the worker. Only these are
 * read, because reading every process of a machine takes a fifth of a processor.
 */
function backendsOfWorker(): Process[] {
  const server = textOf(join(inject('runDirectory'), 'postgres', 'cluster', 'postmaster.pid')).split('\n', 1)[0]
  const pids = textOf(`/proc/${server}/task/${server}/children`).split(' ')
  return pids.filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(` test_${process.pid}_`)).flatMap(processOf)
}

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap(processOf)
}

/** Empty for a process that has ended meanwhile. */
function processOf(id: string): Process[] {
  const [, pid, name = '', rest = ''] = /^(\d+) \((.*)\) (.*)$/s.exec(textOf(`/proc/${id}/stat`)) ?? []
  if (pid === undefined) return []
  // proc_pid_stat(5): the state is the third field, the parent the fourth, the times 14 to 17.
  const fields = rest.split(' ')
  const ms = (...fieldNumbers: number[]) => sum(fieldNumbers.map((number) => Number(fields[number - 3]))) * TICK_MS
  return [{ pid: Number(pid), parent: Number(fields[1]), name, ownMs: ms(14, 15), childrenMs: ms(16, 17) }]
}

/** Empty for a process that has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

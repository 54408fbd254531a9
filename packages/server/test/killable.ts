import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import { PgBoss } from 'pg-boss'

const MAIN = 'packages/server/test/killable-main.ts'

/** Sent to a process to start it, or to move its clock: how far that is ahead, so that it need not wait for leases. */
export interface Start {
  aheadMs: number
}

/**
 * A service for tests that kill it. It runs in separate processes, one after another on the same data; the next one loads
 * its code in advance, so that a restart only takes as long as the databases need.
 */
export class KillableService {
  readonly #environment: Record<string, string>
  #running: ChildProcess | null = null
  #next: ChildProcess | null
  #output = ''

  constructor(environment: Record<string, string>) {
    this.#environment = { PORT: '0', HOST: '127.0.0.1', CDS_RATE_LIMITS: 'off', CDS_LOG_LEVEL: 'warn', ...environment }
    this.#next = this.#load()
  }

  #load(): ChildProcess {
    const child = fork(MAIN, {
      env: { ...process.env, ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk
      })
    }
    return child
  }

  /** The output of all its processes. */
  get output(): string {
    return this.#output
  }

  /** Starts the service. @returns its URL. @throws Error if it ends before it listens. */
  start(aheadMs = 0): Promise<string> {
    const child = this.#next ?? this.#load()
    this.#next = this.#load()
    return this.#startIn(child, aheadMs)
  }

  /** The same for the last time: no process is loaded for another start. */
  startLast(aheadMs = 0): Promise<string> {
    const child = this.#next ?? this.#load()
    this.#next = null
    return this.#startIn(child, aheadMs)
  }

  async #startIn(child: ChildProcess, aheadMs: number): Promise<string> {
    this.#running = child
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The service ended with ${code}:\n${this.#output}`)
    })
    // It ends eventually, when nobody waits for its start.
    ended.catch(() => {})
    const started = once(child, 'message')
    child.send({ aheadMs } satisfies Start)
    const [{ url }] = (await Promise.race([started, ended])) as [{ url: string }]
    return url
  }

  /** Moves the clock of the process that runs, which then looks for due deliveries. */
  moveClock(aheadMs: number): void {
    this.#running?.send({ aheadMs } satisfies Start)
  }

  kill(): Promise<void> {
    return end(this.#running, 'SIGKILL')
  }

  /** Ends the remaining processes. */
  async close(): Promise<void> {
    await Promise.all([end(this.#running, 'SIGTERM'), end(this.#next, 'SIGKILL')])
  }
}

async function end(child: ChildProcess | null, signal: NodeJS.Signals): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

/**
 * Advances the clock of a database, for leases and heartbeats that PostgreSQL checks: new connections get a `now()` that is
 * ahead, including the job queue's statements.
 */
export async function moveDatabaseClock(databaseUrl: string, aheadMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(`CREATE SCHEMA IF NOT EXISTS ahead;
      CREATE OR REPLACE FUNCTION ahead.now() RETURNS timestamptz LANGUAGE sql STABLE
      AS 'SELECT pg_catalog.now() + interval ''${aheadMs} ms''';
      CREATE OR REPLACE FUNCTION pgboss.job_now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT ahead.now()';
      ALTER DATABASE ${pg.escapeIdentifier(client.database ?? '')} SET search_path = public, ahead, pg_catalog`)
  } finally {
    await client.end()
  }
}

/** Detects jobs whose process has died, which the service does once a minute. */
export async function superviseJobs(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    schema: 'pgboss',
    supervise: false,
    schedule: false,
    max: 1,
  })
  await boss.start()
  try {
    await boss.supervise()
  } finally {
    await boss.stop({ graceful: false, close: true })
  }
}

import { sql } from 'kysely'
import { tenantExists } from '../../access/tenants.ts'
import { every } from '../../platform/every.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { recordset } from '../../platform/postgres/recordset.ts'
import { type Clock, MINUTE_MS } from '../../platform/time.ts'
import { KEPT_MS, type RequestProblem } from './list.ts'

const WRITE_EVERY_MS = 1_000
const DELETE_EVERY_MS = MINUTE_MS
/** The problems of one tenant or host to keep in each round, so that one caller's flood does not hide other problems. */
const PER_SENDER_MAX = 5
/** The problems to keep in each round, which limits the cost of a flood: 72,000 rows and 180 MB in an hour, with 2 KB a body. */
const PER_ROUND_MAX = 20
/** Tenants and hosts that are counted in each round. A flood from more hosts must not fill the memory. */
const SENDERS_COUNTED_MAX = 1_000

/** A problem of a request that just got its response. */
export interface Noted extends Omit<RequestProblem, 'problem_id' | 'at' | 'skipped'> {
  /** null if nobody has verified the page's domain. Tenants that added it then see the problem. */
  tenantId: string | null
}

export interface ProblemRecorder {
  /** Counts a problem of this tenant or host. @returns whether to note it; the others are only counted. */
  admit(tenantId: string | null, host: string | null): boolean
  /** Keeps a problem. It neither blocks nor throws. */
  note(problem: Noted): void
  stop(): Promise<void>
}

interface Dependencies {
  database: Database
  /** The tenants that added a host's domain without having verified it. */
  tenantsThatAdded(host: string): Promise<string[]>
  clock: Clock
  log: Logger
}

type Row = Omit<RequestProblem, 'at'> & { tenant_id: string; at: Date }

/**
 * Collects problems in memory and writes them once a second in one statement, so that even a flood of rejected requests costs
 * the database next to nothing.
 */
export function startProblemRecorder({ database, tenantsThatAdded, clock, log }: Dependencies): ProblemRecorder {
  let kept: (Noted & { at: Date })[] = []
  let counts = new Map<string, number>()
  let deletedAt = clock().getTime()
  let failing = false

  async function write(): Promise<void> {
    if (kept.length === 0) return
    const [problems, counted] = [kept, counts]
    kept = []
    counts = new Map()
    const rows: Row[] = []
    for (const { tenantId, ...problem } of problems) {
      const tenantIds = tenantId ? [tenantId] : problem.page_host ? await tenantsThatAdded(problem.page_host) : []
      const sent = counted.get(senderOf(tenantId, problem.page_host)) ?? 0
      const skipped = Math.max(0, sent - PER_SENDER_MAX)
      for (const tenant_id of tenantIds) rows.push({ ...problem, problem_id: newId(), tenant_id, skipped })
    }
    if (rows.length > 0) await insert(database, rows)
    if (clock().getTime() - deletedAt < DELETE_EVERY_MS) return
    deletedAt = clock().getTime()
    await deleteOldProblems(database, clock())
  }

  const writing = every(WRITE_EVERY_MS, () =>
    write().then(
      () => {
        failing = false
      },
      (err: unknown) => {
        if (!failing) log.warn({ err }, 'rejected requests could not be recorded for their tenants')
        failing = true
      },
    ),
  )

  return {
    admit: (tenantId, host) => {
      const sender = senderOf(tenantId, host)
      const count = (counts.get(sender) ?? 0) + 1
      if (count > 1 || counts.size < SENDERS_COUNTED_MAX) counts.set(sender, count)
      return count <= PER_SENDER_MAX && kept.length < PER_ROUND_MAX
    },
    note: (problem) => {
      kept.push({ ...problem, at: clock() })
    },
    stop: writing.stop,
  }
}

function senderOf(tenantId: string | null, host: string | null): string {
  return tenantId ?? `host ${host ?? ''}`
}

/** Rows of tenants that do not exist are dropped: a form's URL may name any. */
async function insert(database: Database, rows: readonly Row[]): Promise<void> {
  const columns = {
    problem_id: 'uuid',
    tenant_id: 'uuid',
    at: 'timestamptz',
    method: 'text',
    path: 'text',
    status: 'integer',
    code: 'text',
    messages: 'json',
    page_host: 'text',
    visitor_id: 'text',
    user_agent: 'text',
    body: 'text',
    skipped: 'integer',
  } as const
  await sql`
    INSERT INTO request_problems
      (problem_id, tenant_id, at, method, path, status, code, messages, page_host, visitor_id, user_agent, body, skipped)
    SELECT problem_id, tenant_id, at, method, path, status, code,
      ARRAY(SELECT json_array_elements_text(messages)), page_host, visitor_id, user_agent, body, skipped
    FROM ${recordset(rows, 'sent', columns)} WHERE ${tenantExists('sent.tenant_id')}
  `.execute(database)
}

/** Deletes problems that are too old to be listed. */
export async function deleteOldProblems(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS)
  await database.deleteFrom('request_problems').where('at', '<', before).execute()
}

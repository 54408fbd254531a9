import { sql } from 'kysely'
import { tenantExists } from '../../access/tenants.ts'
import { every } from '../../platform/every.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { recordset } from '../../platform/postgres/recordset.ts'
import { type Clock, MINUTE_MS } from '../../platform/time.ts'
import { KEPT_MS, REFUSED_CODE, type RequestProblem } from './list.ts'

const WRITE_EVERY_MS = 1_000
const DELETE_EVERY_MS = MINUTE_MS
/** The problems of one tenant or host to keep in each round, so that one caller's flood does not hide other problems. */
const PER_SENDER_MAX = 5
/** The problems to keep in each round, which limits the cost of a flood: 72,000 rows and 180 MB in an hour, with 2 KB a body. */
const PER_ROUND_MAX = 20
/** Tenants and hosts that are counted in each round. A flood from more hosts must not fill the memory. */
const SENDERS_COUNTED_MAX = 1_000
/** A refused page is noted once in this time, however often it is opened. */
const REFUSED_AGAIN_MS = MINUTE_MS
/** Refused pages to keep in each round. They have their own share, so that strangers cannot displace a tenant's problems. */
const REFUSED_PER_ROUND_MAX = 20
/** The hosts of refused pages that a tenant has in its list. Anyone can name a host, so there must be a limit. */
const REFUSED_HOSTS_MAX = 20

/** A problem of a request that just got its response. */
export interface Noted extends Omit<RequestProblem, 'problem_id' | 'at' | 'skipped' | 'domain_to_add'> {
  /** null if the request names no tenant. The tenants to whom the page may belong then see the problem. */
  tenantId: string | null
}

/** A request that was refused because of its page's host. What it sent, and from which browser, is nobody's business. */
export interface Refused extends Pick<Noted, 'tenantId' | 'method' | 'path' | 'status' | 'messages'> {
  host: string
}

export interface ProblemRecorder {
  /** Counts a problem of this tenant or host. @returns whether to note it; the others are only counted. */
  admit(tenantId: string | null, host: string | null): boolean
  /** Keeps a problem. It neither blocks nor throws. */
  note(problem: Noted): void
  /** Keeps the refusal of a page, or counts it if its host was refused a short while ago. */
  refuse(refused: Refused): void
  stop(): Promise<void>
}

interface Dependencies {
  database: Database
  /** The tenants to whom a refused page may belong. */
  tenantsOfRefusedHost(host: string): Promise<string[]>
  clock: Clock
  log: Logger
}

type Row = Omit<RequestProblem, 'at' | 'domain_to_add'> & { tenant_id: string; at: Date }

/**
 * Collects problems in memory and writes them once a second in one statement, so that even a flood of rejected requests costs
 * the database next to nothing.
 */
export function startProblemRecorder({ database, tenantsOfRefusedHost, clock, log }: Dependencies): ProblemRecorder {
  let kept: (Noted & { at: Date })[] = []
  let counts = new Map<string, number>()
  const refusals = createRefusals(clock)
  let deletedAt = clock().getTime()
  let failing = false

  async function write(): Promise<void> {
    const [problems, counted, refused] = [kept, counts, refusals.take()]
    kept = []
    counts = new Map()
    const sampled = problems.map((problem) => {
      const sent = counted.get(senderOf(problem.tenantId, problem.page_host)) ?? 0
      return { ...problem, skipped: Math.max(0, sent - PER_SENDER_MAX) }
    })
    const rows: Row[] = []
    for (const { tenantId, ...problem } of [...sampled, ...refused]) {
      const { page_host: host } = problem
      const tenantIds = tenantId ? [tenantId] : host ? await tenantsOfRefusedHost(host) : []
      for (const tenant_id of tenantIds) rows.push({ ...problem, problem_id: newId(), tenant_id })
    }
    if (rows.length === 0) return
    await insert(database, rows)
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
    refuse: refusals.add,
    stop: writing.stop,
  }
}

/** Collects the hosts of refused pages, each at most once in `REFUSED_AGAIN_MS`. */
function createRefusals(clock: Clock) {
  /** By tenant and host, oldest first: when it was last noted, and how often it was refused since. */
  const seen = new Map<string, { at: number; others: number }>()
  let waiting: (Refused & { at: Date; skipped: number })[] = []
  return {
    add(refused: Refused): void {
      const key = senderOf(refused.tenantId, null) + refused.host
      const before = seen.get(key)
      const at = clock()
      const isRecent = before !== undefined && at.getTime() - before.at < REFUSED_AGAIN_MS
      if (isRecent || waiting.length >= REFUSED_PER_ROUND_MAX) {
        if (before) before.others++
        return
      }
      waiting.push({ ...refused, at, skipped: before?.others ?? 0 })
      seen.delete(key)
      seen.set(key, { at: at.getTime(), others: 0 })
      const [oldest] = seen.keys()
      if (seen.size > SENDERS_COUNTED_MAX && oldest !== undefined) seen.delete(oldest)
    },
    /** What waits to be written. */
    take() {
      const taken = waiting
      waiting = []
      return taken.map(({ host, ...refused }) => ({
        ...refused,
        code: REFUSED_CODE,
        page_host: host,
        visitor_id: null,
        user_agent: '',
        body: null,
      }))
    },
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
    FROM (
      SELECT *, row_number() OVER (PARTITION BY tenant_id, code ORDER BY problem_id) AS place
      FROM ${recordset(rows, 'listed', columns)}
    ) sent
    WHERE ${tenantExists('sent.tenant_id')} AND (
      code <> ${REFUSED_CODE}
      OR EXISTS (
        SELECT FROM request_problems known
        WHERE known.code = 'domain_not_allowed' AND (known.tenant_id, known.page_host) = (sent.tenant_id, sent.page_host)
      )
      OR place + (
        SELECT count(DISTINCT known.page_host) FROM request_problems known
        WHERE known.code = 'domain_not_allowed' AND known.tenant_id = sent.tenant_id
      ) <= ${REFUSED_HOSTS_MAX}
    )
  `.execute(database)
}

/** Deletes problems that are too old to be listed. */
export async function deleteOldProblems(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS)
  await database.deleteFrom('request_problems').where('at', '<', before).execute()
}

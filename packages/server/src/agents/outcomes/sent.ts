import { sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'
import { OUTBOUND_TYPES } from '../action-types.ts'

/** Messages read at a time. */
const AT_ONCE = 2_000

/** The proposals that count. */
export interface Counted {
  agentId: string
  versions: readonly number[]
  /** When they were proposed, inclusive. */
  after?: Date
  before?: Date
}

/** A message that the agent sent. */
export interface SentMessage {
  contactId: string
  version: number
  at: Date
}

/** The messages that an agent sent, some at a time. */
export async function* sentMessages(
  tenant: Tenant,
  { agentId, versions, after, before }: Counted,
): AsyncGenerator<SentMessage[]> {
  let last: { contact_id: string; run_id: string; action_index: number } | undefined
  for (;;) {
    let query = tenant.db
      .selectFrom('agent_actions')
      .select(['contact_id', 'run_id', 'action_index', 'playbook_version', 'executed_at'])
      .where('agent_id', '=', agentId)
      .where('status', '=', sql.lit('executed'))
      .where('type', 'in', OUTBOUND_TYPES)
      .where('playbook_version', '=', sql<number>`any(${versions}::int[])`)
    if (after !== undefined) query = query.where('created_at', '>=', after)
    if (before !== undefined) query = query.where('created_at', '<=', before)
    if (last !== undefined) {
      const place = sql`(${last.contact_id}::uuid, ${last.run_id}::uuid, ${last.action_index}::integer)`
      query = query.where(sql<boolean>`(contact_id, run_id, action_index) > ${place}`)
    }
    const page = query
      .orderBy('contact_id')
      .orderBy('run_id')
      .orderBy('action_index')
      .limit(AT_ONCE)
      .$narrowType<{ playbook_version: number; executed_at: Date }>()
    const rows = await tenant.heavyRead(() => page.execute())
    if (rows.length > 0) {
      yield rows.map((row) => ({ contactId: row.contact_id, version: row.playbook_version, at: row.executed_at }))
    }
    if (rows.length < AT_ONCE) return
    last = rows.at(-1)
  }
}

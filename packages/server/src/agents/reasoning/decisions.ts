import { sql } from 'kysely'
import { knownContacts } from '../../contacts/read.ts'
import { lastInboundFrom } from '../../conversations/read.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { OUTBOUND_TYPES, type ProposedAction } from '../action-types.ts'
import type { ModelDoor } from './model-view.ts'

/*
 * What became of earlier proposals: it is in the prompts of models, so that they learn from people's decisions, and the template
 * provider does not repeat what was turned down.
 */

const ACTIONS = 10
/** Of rejections and of edits each, in a prompt. */
const LESSONS = 5
/** Characters of a text that are read from the database. */
const TEXT_LENGTH_MAX = 500

/** An action that an earlier run of any agent proposed for the contact, and what became of it. */
export interface RecentAction {
  type: string
  status: string
  at: string
  executed_at: string | null
  /** The agent's name; null if it was deleted. */
  agent: string | null
  subject: string | null
  /** The beginning of the message, the note or the properties. */
  text: string | null
  /** The text before a person edited it; null if nobody did. */
  text_before_edit: string | null
  decided_by: 'person' | 'agent' | 'guardrail' | null
  /** Why it was rejected. */
  reason: string | null
  /** When the contact first wrote after it; null if they have not. */
  replied_at: string | null
}

/** Something that people decided about a proposal of the same agent to another contact. Names of people are hidden. */
export interface Lesson {
  type: string
  at: string
  /** What the agent proposed. */
  proposed: string
}

export interface Lessons {
  rejections: (Lesson & { reason: string | null })[]
  edits: (Lesson & { approved: string })[]
}

export const NO_LESSONS: Lessons = { rejections: [], edits: [] }

/** The first characters of what people read of an action. */
const textOf = (column: 'params' | 'proposed_params') => {
  const params = sql.ref(`agent_actions.${column}`)
  const text = sql`coalesce(${params} ->> 'message', ${params} ->> 'content', ${params} ->> 'properties')`
  return sql<string | null>`left(${text}, ${sql.lit(TEXT_LENGTH_MAX)})`
}
const subjectOf = (column: 'params' | 'proposed_params') =>
  sql<string | null>`left(${sql.ref(`agent_actions.${column}`)} ->> 'subject', ${sql.lit(TEXT_LENGTH_MAX)})`
const byPerson = sql<boolean>`agent_actions.decided_by ->> 'kind' NOT IN ('agent', 'service')`

/** The newest actions of each contact. */
export async function recentActions(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, RecentAction[]>> {
  const rows = await tenant.db
    .selectFrom(sql<{ contact_id: string }>`unnest(${contactIds}::uuid[])`.as<'wanted'>(sql`wanted (contact_id)`))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('agent_actions')
          .leftJoin('agents', 'agents.agent_id', 'agent_actions.agent_id')
          .select(['agent_actions.type', 'agent_actions.status', 'agent_actions.created_at', 'executed_at', 'reason'])
          .select(['agents.name as agent', subjectOf('params').as('subject')])
          .select([textOf('params').as('text'), textOf('proposed_params').as('text_before_edit')])
          .select(sql<string | null>`agent_actions.decided_by ->> 'kind'`.as('decider'))
          .select(sql<string | null>`agent_actions.error ->> 'message'`.as('error'))
          .whereRef('agent_actions.contact_id', '=', 'wanted.contact_id')
          .orderBy('agent_actions.created_at', 'desc')
          .orderBy('agent_actions.action_index')
          .limit(ACTIONS)
          .as('recent'),
      (join) => join.onTrue(),
    )
    .selectAll()
    .execute()
  const byContact = Map.groupBy(rows, ({ contact_id }) => contact_id)
  return new Map(
    [...byContact].map(([contactId, actions]) => [
      contactId,
      actions.map(({ type, status, agent, subject, text, text_before_edit, ...row }) => ({
        type,
        status,
        at: row.created_at.toISOString(),
        executed_at: row.executed_at?.toISOString() ?? null,
        agent,
        subject,
        text,
        text_before_edit,
        decided_by: deciderOf(row.decider),
        reason: row.reason ?? (status === 'rejected' ? row.error : null),
        replied_at: null,
      })),
    ]),
  )
}

function deciderOf(kind: string | null): RecentAction['decided_by'] {
  if (kind === null) return null
  return kind === 'agent' ? 'agent' : kind === 'service' ? 'guardrail' : 'person'
}

/** The actions, the latest message among them with the time of the answer. */
export async function withReply(
  tenant: Tenant,
  contactId: string,
  actions: readonly RecentAction[],
): Promise<RecentAction[]> {
  const isSent = ({ type, executed_at: at }: RecentAction) =>
    at !== null && (OUTBOUND_TYPES as readonly string[]).includes(type)
  const latest = actions
    .filter(isSent)
    .sort((one, other) => (one.executed_at ?? '').localeCompare(other.executed_at ?? ''))
    .at(-1)
  if (!latest) return [...actions]
  const reply = await lastInboundFrom(tenant, contactId, new Date(latest.executed_at ?? ''))
  return actions.map((action) =>
    action === latest ? { ...action, replied_at: reply?.sentAt.toISOString() ?? null } : action,
  )
}

/**
 * What people rejected and edited of an agent last, without anything about the people whom it was for: a prompt is about
 * another contact. Proposals for contacts that were deleted are left out, because nothing is known of whom they name.
 */
export async function lessonsOf(tenant: Tenant, door: ModelDoor, agentId: string): Promise<Lessons> {
  const decided = tenant.db
    .selectFrom('agent_actions')
    .select(['contact_id', 'type', 'decided_at', 'reason'])
    .select([subjectOf('params').as('subject'), textOf('params').as('text')])
    .select([subjectOf('proposed_params').as('subject_before'), textOf('proposed_params').as('text_before')])
    .where('agent_id', '=', agentId)
    .where(byPerson)
    .orderBy('decided_at', 'desc')
    .orderBy('run_id', 'desc')
    .limit(LESSONS)
  const [rejected, edited] = await Promise.all([
    decided.where('status', '=', 'rejected').execute(),
    decided.where('proposed_params', 'is not', null).where('status', '<>', 'rejected').execute(),
  ])
  const ids = [...rejected, ...edited].map((row) => row.contact_id)
  const known = await knownContacts(tenant, [...new Set(ids)])
  const hide = (row: { contact_id: string }, texts: string[]) => door.withoutPeople(tenant, texts, row.contact_id)
  const lesson = ({ type, decided_at: at }: (typeof rejected)[number], proposed = '') => {
    return { type, at: at?.toISOString() ?? '', proposed }
  }
  const lessons: Lessons = { rejections: [], edits: [] }
  for (const row of rejected.filter((each) => known.has(each.contact_id))) {
    const proposed = [row.subject_before ?? row.subject, row.text_before ?? row.text].filter(Boolean).join('\n')
    const [hidden, reason = ''] = await hide(row, [proposed, row.reason ?? ''])
    lessons.rejections.push({ ...lesson(row, hidden), reason: reason || null })
  }
  for (const row of edited.filter((each) => known.has(each.contact_id))) {
    const before = [row.subject_before, row.text_before].filter(Boolean).join('\n')
    const after = [row.subject, row.text].filter(Boolean).join('\n')
    const [hidden, approved = ''] = await hide(row, [before, after])
    lessons.edits.push({ ...lesson(row, hidden), approved })
  }
  return lessons
}

/** The latest time at which a person rejected exactly this action for the contact, with the reason; null if none did. */
export async function rejectedBefore(
  tenant: Tenant,
  contactId: string,
  { type, params }: ProposedAction,
): Promise<{ at: Date; reason: string | null } | null> {
  const row = await tenant.db
    .selectFrom('agent_actions')
    .select(['decided_at', 'reason'])
    .where('contact_id', '=', contactId)
    .where('type', '=', type)
    .where('status', '=', 'rejected')
    .where(byPerson)
    .where('params', '=', sql<never>`${JSON.stringify(params)}::jsonb`)
    .orderBy('decided_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.decided_at ? { at: row.decided_at, reason: row.reason } : null
}

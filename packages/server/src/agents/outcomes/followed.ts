import { compileWhere } from '../../conditions/to-clickhouse.ts'
import { copyContacts } from '../../contact-sets/copy.ts'
import { survivorsOfContacts } from '../../contacts/aliases.ts'
import { type KeyOfContact, keysOfContacts } from '../../contacts/identifiers-of-many.ts'
import { optOutTimes } from '../../contacts/opt-out-times.ts'
import { repliesThatCame } from '../../conversations/replies.ts'
import { ownersChoicesOf } from '../../identities/suppressions.ts'
import { SYSTEM_EVENTS } from '../../journal/event-record.ts'
import { isInSet, valuesOfContact } from '../../platform/clickhouse/contact-sets.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { Goal } from './goal.ts'
import { type Counted, type SentMessage, sentMessages } from './sent.ts'

/** What a contact does in so many days after a message counts for it, the last moment included. */
export const WINDOW_DAYS = 14
const WINDOW_MS = WINDOW_DAYS * DAY_MS

/** How many messages of a version were followed by each. */
export interface Followed {
  replied: number
  unsubscribed: number
  /** null without a goal. */
  goalReached: number | null
}

/**
 * What contacts did after the messages of an agent, by version. PostgreSQL is asked about some messages at a time. For the
 * goal, the messages are copied into a contact set, which ClickHouse compares with all events at once. The survivor of a
 * merge did what either contact did.
 */
export async function followedBy(
  tenant: Tenant,
  counted: Counted,
  goal: Goal | null,
  now: Date,
): Promise<Map<number, Followed>> {
  const followed = new Map<number, Followed>(
    counted.versions.map((version) => [
      version,
      { replied: 0, unsubscribed: 0, goalReached: goal === null ? null : 0 },
    ]),
  )
  const count = (sent: readonly SentMessage[], places: Iterable<number>, what: 'replied' | 'unsubscribed') => {
    for (const place of places) {
      const each = followed.get(sent[place]?.version ?? 0)
      if (each) each[what]++
    }
  }
  const range = { firstMs: Number.POSITIVE_INFINITY, lastMs: 0 }
  let number = 0
  /** Counts what PostgreSQL knows. @returns the lines of the messages in the set. */
  const follow = async (stored: readonly SentMessage[]): Promise<string> => {
    const sent = await withSurvivors(tenant, stored)
    const contactIds = [...new Set(sent.map(({ contactId }) => contactId))]
    const keys = await tenant.heavyRead(() => keysOfContacts(tenant, contactIds))
    count(sent, await tenant.heavyRead(() => repliesThatCame(tenant, sent.map(awaited), keys)), 'replied')
    count(sent, await tenant.heavyRead(() => optOutsThatCame(tenant, sent, keys)), 'unsubscribed')
    for (const { at } of sent) {
      range.firstMs = Math.min(range.firstMs, at.getTime())
      range.lastMs = Math.max(range.lastMs, at.getTime())
    }
    return sent.map(({ contactId, version, at }) => `${contactId}\t${version} ${at.getTime()} ${number++}\n`).join('')
  }
  const messages = sentMessages(tenant, counted)
  if (goal === null) {
    for await (const sent of messages) await follow(sent)
    return followed
  }
  const setId = await copyContacts(tenant, messages, follow)
  if (number === 0) return followed
  for (const { version, reached } of await goalsReached(tenant, goal, setId, range, now)) {
    const each = followed.get(Number(version))
    if (each) each.goalReached = Number(reached)
  }
  return followed
}

async function withSurvivors(tenant: Tenant, sent: readonly SentMessage[]): Promise<SentMessage[]> {
  const survivors = await survivorsOfContacts(
    tenant,
    sent.map(({ contactId }) => contactId),
  )
  return sent.map((each) => ({ ...each, contactId: survivors.get(each.contactId) ?? each.contactId }))
}

function awaited({ contactId, at }: SentMessage) {
  return { contactId, after: at, until: new Date(at.getTime() + WINDOW_MS) }
}

/** The messages after which the contact, or the owner of one of its addresses, asked not to be written to. */
async function optOutsThatCame(
  tenant: Tenant,
  sent: readonly SentMessage[],
  keys: readonly KeyOfContact[],
): Promise<number[]> {
  if (sent.length === 0) return []
  const contactIds = [...new Set(sent.map(({ contactId }) => contactId))]
  const times = sent.map(({ at }) => at.getTime())
  const said = await optOutTimes(tenant, contactIds, {
    from: new Date(times.reduce((a, b) => Math.min(a, b))),
    until: new Date(times.reduce((a, b) => Math.max(a, b)) + WINDOW_MS),
  })
  const emails = keys.filter(({ source }) => source === null)
  const choices = await ownersChoicesOf(
    tenant,
    emails.map(({ key }) => key),
  )
  for (const { contactId, key } of emails) {
    const at = choices.get(key)
    if (at) said.set(contactId, [...(said.get(contactId) ?? []), at])
  }
  return sent.flatMap((message, place) => {
    const { after, until } = awaited(message)
    return (said.get(message.contactId) ?? []).some((at) => at > after && at <= until) ? [place] : []
  })
}

/** The messages after which the goal was reached, by version. @param setId the set with the messages as its values */
async function goalsReached(
  tenant: Tenant,
  { event, where = [] }: Goal,
  setId: string,
  { firstMs, lastMs }: { firstMs: number; lastMs: number },
  now: Date,
) {
  const conditions = compileWhere(where, 'goal_', { now, zone: 'UTC' })
  const at = 'toUnixTimestamp64Milli(timestamp)'
  const sentAt = "toInt64(splitByChar(' ', message)[2])"
  const isWithin = `${at} > ${sentAt} AND ${at} <= ${sentAt} + ${WINDOW_MS}`
  return tenant.events.select<{ version: number; reached: number }>({
    name: 'agents.goals_reached',
    lane: 'heavy',
    columns: `arrayJoin(arrayFilter(message -> ${isWithin}, ${valuesOfContact('messages')})) AS reached_after`,
    where: [
      'event = {event: String}',
      // Any page can send an event of the name of a system event; only the service's own counts.
      `is_system = ${(SYSTEM_EVENTS as readonly string[]).includes(event) ? 1 : 0}`,
      `${at} > {first: Int64} AND ${at} <= {last: Int64}`,
      conditions.sql,
      isInSet('messages'),
    ],
    parameters: {
      ...conditions.parameters,
      event,
      first: String(firstMs),
      last: String(lastMs + WINDOW_MS),
      messages: setId,
    },
    valuesOf: ['messages'],
    outer: {
      columns: "toUInt32(splitByChar(' ', reached_after)[1]) AS version, uniqExact(reached_after) AS reached",
      groupBy: 'version',
    },
  })
}

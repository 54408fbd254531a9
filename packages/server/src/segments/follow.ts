import type { SystemEvent } from '../journal/append.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { queueChecks } from './check-queue.ts'
import type { Definition, Definitions } from './definitions.ts'
import { askEvents, type EventAnswers, noEvents } from './events.ts'
import { type Judgement, judge } from './judge.ts'
import { applyJudgements, leaveAll } from './membership.ts'

/** A contact's write does not wait longer for ClickHouse: the rest is left to a check. */
const ANSWER_WITHIN_MS = 500

/** Keeps memberships in step with the contacts, in the transactions that change them. */
export interface SegmentFollower {
  /**
   * Looks at the segments of contacts that have changed; the caller's transaction holds their rows.
   * @param created those among them that the transaction has made: they have no events yet.
   * @param linked those among them that were given visitors, whose earlier events are theirs from the commit on.
   * @returns the events that tell of who entered and who left.
   */
  follow(
    tx: Tenant,
    contactIds: readonly string[],
    created: ReadonlySet<string>,
    linked: ReadonlySet<string>,
  ): Promise<SystemEvent[]>
  /** The same for a contact that is about to be deleted. */
  leave(tx: Tenant, contactId: string): Promise<SystemEvent[]>
}

export function createFollower(definitions: Definitions, clock: Clock): SegmentFollower {
  return {
    follow: async (tx, contactIds, created, linked) => {
      if (contactIds.length === 0) return []
      const now = clock()
      const known = await definitions.of(tx)
      if (known.length === 0) return []
      const judgements = await judge(tx, known, contactIds, now)
      const open = undecided(known, judgements)
      if (open.contactIds.length > 0) {
        const answers = await answersInTime(tx, open, created, now)
        if (answers) judgements.push(...(await judge(tx, open.definitions, open.contactIds, now, answers)))
        else await queueChecks(tx, open.contactIds)
      }
      // The events of this very change are not in ClickHouse yet.
      if (known.some(({ usesSystemEvents }) => usesSystemEvents)) await queueChecks(tx, contactIds)
      else if (known.some(({ matches }) => matches.length > 0)) await queueChecks(tx, linked)
      return applyJudgements(tx, known, judgements, now)
    },
    leave: (tx, contactId) => leaveAll(tx, contactId, clock()),
  }
}

/** Looks at contacts again when their events have changed. @throws ServiceError 503 when ClickHouse is away. */
export async function followEvents(
  tx: Tenant,
  known: readonly Definition[],
  contactIds: readonly string[],
  now: Date,
): Promise<SystemEvent[]> {
  if (contactIds.length === 0 || known.length === 0) return []
  const judgements = await judge(tx, known, contactIds, now)
  const open = undecided(known, judgements)
  if (open.contactIds.length > 0) {
    const answers = await askEvents(tx, matchesOf(open.definitions), open, now)
    judgements.push(...(await judge(tx, open.definitions, open.contactIds, now, answers)))
  }
  return applyJudgements(tx, known, judgements, now)
}

interface Undecided {
  definitions: Definition[]
  contactIds: string[]
}

/** What the contacts' own properties do not decide. */
function undecided(definitions: readonly Definition[], judgements: readonly Judgement[]): Undecided {
  const isOpen = ({ belongs }: Judgement, { segmentId }: Definition) => belongs.get(segmentId) === null
  return {
    definitions: definitions.filter((definition) => judgements.some((judgement) => isOpen(judgement, definition))),
    contactIds: judgements
      .filter((judgement) => definitions.some((definition) => isOpen(judgement, definition)))
      .map(({ contactId }) => contactId),
  }
}

async function answersInTime(
  tx: Tenant,
  { definitions, contactIds }: Undecided,
  created: ReadonlySet<string>,
  now: Date,
): Promise<EventAnswers | null> {
  const matches = matchesOf(definitions)
  if (contactIds.every((contactId) => created.has(contactId))) return noEvents(matches)
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ANSWER_WITHIN_MS)
  })
  // Whatever is wrong with ClickHouse must not fail the change: the check will see.
  const asked = askEvents(tx, matches, { contactIds }, now).catch(() => null)
  const answers = await Promise.race([asked, limit])
  clearTimeout(timer)
  return answers
}

function matchesOf(definitions: readonly Definition[]) {
  return definitions.flatMap(({ matches }) => matches)
}

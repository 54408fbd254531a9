import type { SystemEvent } from '../../journal/append.ts'
import { type ContactRow, propertiesOf } from '../contact-row.ts'
import type { Properties } from '../properties.ts'
import { fitInEvent } from '../size.ts'

/** How a score of a contact changed. */
export interface ScoreChange {
  from: number
  to: number
}

/** The event of a new contact. */
export function createdEvent(row: ContactRow, source: string, at: Date): SystemEvent {
  const data = { ...propertiesInEvent(row), source }
  return { event: 'contact_created', at, contactId: row.contact_id, data }
}

/** The events of a change of a contact. @param scores the scores that rose or fell */
export function changedEvents(
  before: ContactRow,
  after: ContactRow,
  changed: readonly string[],
  source: string,
  at: Date,
  scores: Readonly<Record<string, ScoreChange>> = {},
): SystemEvent[] {
  const contactId = after.contact_id
  const updated: SystemEvent = {
    event: 'contact_updated',
    at,
    contactId,
    data: {
      changed,
      ...propertiesInEvent(after),
      source,
      ...(Object.keys(scores).length === 0 ? {} : { scores }),
    },
  }
  const [from, to] = [before, after].map((row) => (row.properties as Properties).lifecyclestage ?? null)
  if (from === to) return [updated]
  return [updated, { event: 'lifecycle_stage_changed', at, contactId, data: { from, to, source } }]
}

/** The most properties in an event; readers that need more can read the contact. */
function propertiesInEvent(row: ContactRow): { properties: Properties } | { properties_omitted: true } {
  const properties = propertiesOf(row)
  return fitInEvent(properties) ? { properties } : { properties_omitted: true }
}

import type { Report, ToolCall } from '../api/types.ts'
import { type ContactSearch, contactSearch } from '../contacts/contact-search.ts'
import { type EventGroupSearch, eventGroupSearch } from '../events/event-search.ts'

/** The page that shows the same as a call, where a person can change it. */
export type AskLink = { to: '/contacts'; search: ContactSearch } | { to: '/events/groups'; search: EventGroupSearch }

/** A question about events over time. */
export interface AskedInsight {
  kind: Report['kind']
  question: Report['question']
}

/** The last such question that was answered; null if none was. */
export function insightIn(calls: readonly ToolCall[]): AskedInsight | null {
  const asked = calls.findLast(({ tool, error }) => tool === 'run_insight' && error === null)?.arguments
  // The service has answered it, so it is one.
  return asked === undefined ? null : (asked as unknown as AskedInsight)
}

/** The page for the last call that has one; null if none has. */
export function linkOf(calls: readonly ToolCall[]): AskLink | null {
  const links = calls.filter(({ error }) => error === null).map(linkOfCall)
  return links.findLast((link) => link !== null) ?? null
}

function linkOfCall({ tool, arguments: given }: ToolCall): AskLink | null {
  const { filter, query, segment_id: segmentId } = given
  if (tool === 'preview_segment' || tool === 'search_contacts') {
    const search = contactSearch({
      ...(filter === undefined ? {} : { filter: JSON.stringify(filter) }),
      ...(query === undefined ? {} : { search: query }),
      ...(segmentId === undefined ? {} : { segment_id: segmentId }),
    })
    return Object.keys(search).length === 0 ? null : { to: '/contacts', search }
  }
  if (tool === 'segment_members') return { to: '/contacts', search: contactSearch({ segment_id: segmentId }) }
  if (tool !== 'aggregate' || given.entity !== 'events') return null
  const { date_after: after, date_before: before, ...filters } = (given.filters ?? {}) as Record<string, unknown>
  const days =
    after === undefined ? {} : { range: 'custom', from: dayOf(after), ...(before ? { to: dayOf(before) } : {}) }
  return { to: '/events/groups', search: eventGroupSearch({ ...filters, ...days, group_by: given.group_by }) }
}

function dayOf(time: unknown): string {
  return String(time).slice(0, 10)
}

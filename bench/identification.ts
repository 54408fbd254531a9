import { bareIdentification } from './bare-writes.ts'
import { newEmail } from './bodies.ts'
import { load, pick, URL_OF_SERVICE, withKey } from './load.ts'
import { NOTHING_LEFT, repeat } from './repeat.ts'
import { progress, reportRate } from './report.ts'
import type { Target } from './target.ts'

const CONNECTIONS = 16

/** Identifications and forms of visitors with events, compared with a bare transaction with the same writes. */
export async function measureIdentification(target: Target): Promise<void> {
  const { raw, site, size, postgres } = target
  const { seconds } = size
  progress('POST /v1/identify')
  // A small tenant has few such visitors, so no row may use them all.
  const share = Math.floor(target.visitorsLeft() / 4)
  const warmUpTimes = Math.round(share / 4)
  const visitorSource = () => {
    let left = share
    return () => (left-- > 0 ? target.nextVisitor() : null)
  }
  const nextBare = visitorSource()
  const identifyBare = async () => {
    const visitorId = nextBare()
    if (visitorId === null) return NOTHING_LEFT
    return bareIdentification(postgres, raw.tenantId, visitorId, newEmail())
  }
  const bare = await repeat(CONNECTIONS, seconds, identifyBare, warmUpTimes)
  const nextIdentified = visitorSource()
  const identified = await load({
    connections: CONNECTIONS,
    seconds,
    warmUpTimes,
    headers: withKey(raw.apiKey),
    next: () => identificationOf(nextIdentified()),
  })
  progress('form submission')
  const nextSubmitted = visitorSource()
  const submitted = await load({
    connections: CONNECTIONS,
    seconds,
    warmUpTimes,
    headers: { origin: `https://${site}` },
    next: () => {
      const visitor_id = nextSubmitted()
      if (visitor_id === null) return null
      const body = { visitor_id, contact_data: { email: newEmail(), firstName: 'Ada' } }
      return { path: `/v1/public/form-submission/${raw.tenantId}/bench`, body: JSON.stringify(body) }
    },
  })
  const limit = { ...bare, of: 'bare transactions' }
  reportRate(`POST /v1/identify, ${CONNECTIONS} connections`, identified, limit, '0.40')
  reportRate(`form submission, ${CONNECTIONS} connections`, submitted, limit, '0.40')
}

export function identificationOf(visitorId: string | null): { path: string; body: string } | null {
  if (visitorId === null) return null
  return { path: '/v1/identify', body: JSON.stringify({ visitor_id: visitorId, email: newEmail() }) }
}

/** A contact has half of its events itself, and half in its visitors' episodes. */
const OF_BUSY_CONTACT = 900

/**
 * Checks that the loaded data fits the rows of the table.
 * @throws Error if the service does not return a contact's events from before its identification.
 */
export async function checkData({ raw, population, nextVisitor }: Target): Promise<void> {
  const headers = { ...withKey(raw.apiKey), 'content-type': 'application/json' }
  const eventsOf = async (contactId: string): Promise<number> => {
    const answer = await fetch(`${URL_OF_SERVICE}/v1/contacts/events/${contactId}`, { headers })
    return ((await answer.json()) as { events?: unknown[] }).events?.length ?? 0
  }
  const ofBusy = await eventsOf(pick(population.busy))
  if (ofBusy < OF_BUSY_CONTACT) throw new Error(`A busy contact has ${ofBusy} events.`)
  const { path, body } = identificationOf(nextVisitor()) ?? { path: '', body: '' }
  const answer = await fetch(URL_OF_SERVICE + path, { method: 'POST', headers, body })
  const { contact_id } = (await answer.json()) as { contact_id: string }
  if ((await eventsOf(contact_id)) === 0) throw new Error('An identified visitor brings no events.')
}

import { bareIdentification } from './bare-writes.ts'
import { newEmail } from './bodies.ts'
import { pick, URL_OF_SERVICE, withKey } from './load.ts'
import type { Target } from './target.ts'
import { compareRates, TURNS, type Write } from './turns.ts'

const CONNECTIONS = [
  { connections: 16, aim: '1.00' },
  // Sharing commits may be faster than a commit for each.
  { connections: 64, aim: '1.50' },
]
const FORM = { formId: 'bench', properties: { firstname: 'Ada' } }

/** Identifications and forms of visitors who began an episode, in turns with bare transactions with the same writes. */
export async function measureIdentification(target: Target): Promise<void> {
  const timesMax = visitorsATurn(target, 2 * CONNECTIONS.length)
  for (const { connections, aim } of CONNECTIONS) {
    const common = { connections, aim, seconds: target.size.seconds, timesMax }
    const name = (what: string) => `${what}, ${connections} connections`
    await compareRates({ ...common, what: name('POST /v1/identify'), write: writeOfIdentification(target) })
    await compareRates({ ...common, what: name('form submission'), write: writeOfForm(target) })
  }
}

/** The visitors of a turn, if a group has so many rows. The next groups need some too, so half are left to them. */
export function visitorsATurn(target: Target, rows: number): number {
  return Math.floor(target.visitorsLeft() / (2 * rows * TURNS))
}

export function writeOfIdentification({ raw, postgres, nextVisitor }: Target): Write {
  return {
    headers: withKey(raw.apiKey),
    request: () => identificationOf(nextVisitor()),
    bare: () => bareIdentification(postgres, raw.tenantId, { visitorId: nextVisitor(), email: newEmail() }),
  }
}

export function writeOfForm({ raw, site, postgres, nextVisitor }: Target): Write {
  const { formId, properties } = FORM
  return {
    headers: { origin: `https://${site}` },
    request: () => {
      const contact_data = { email: newEmail(), firstName: properties.firstname }
      const body = JSON.stringify({ visitor_id: nextVisitor(), contact_data })
      return { path: `/v1/public/form-submission/${raw.tenantId}/${formId}`, body }
    },
    bare: () => bareIdentification(postgres, raw.tenantId, { visitorId: nextVisitor(), email: newEmail(), form: FORM }),
  }
}

export function identificationOf(visitorId: string): { path: string; body: string } {
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
    const response = await fetch(`${URL_OF_SERVICE}/v1/contacts/events/${contactId}`, { headers })
    return ((await response.json()) as { events?: unknown[] }).events?.length ?? 0
  }
  const ofBusy = await eventsOf(pick(population.busy))
  if (ofBusy < OF_BUSY_CONTACT) throw new Error(`A busy contact has ${ofBusy} events.`)
  const { path, body } = identificationOf(nextVisitor())
  const response = await fetch(URL_OF_SERVICE + path, { method: 'POST', headers, body })
  const { contact_id } = (await response.json()) as { contact_id: string }
  if ((await eventsOf(contact_id)) === 0) throw new Error('An identified visitor brings no events.')
}

import { bareIdentification } from './bare-writes.ts'
import { newEmail } from './bodies.ts'
import { load, pick, URL_OF_SERVICE, withKey } from './load.ts'
import { type Load, NOTHING_LEFT, repeat } from './repeat.ts'
import { progress, reportRate } from './report.ts'
import type { Target } from './target.ts'

const CONNECTIONS = 16
/** The row is the middle one, because the speed of the disk changes within seconds. */
const ROUNDS = 3
const FORM = { formId: 'bench', properties: { firstname: 'Ada' } }

/** Identifications and forms of visitors with events, in turns with bare transactions with the same writes. */
export async function measureIdentification(target: Target): Promise<void> {
  const { raw, site, size, postgres } = target
  const { seconds } = size
  // A small tenant has few such visitors, so no round may use them all, and the next rows need some too.
  const share = Math.floor(target.visitorsLeft() / (ROUNDS * 8))
  const warmUpTimes = Math.round(share / 4)
  const visitorSource = () => {
    let left = share
    return () => (left-- > 0 ? target.nextVisitor() : null)
  }
  const measureBare = (form?: typeof FORM) => {
    const next = visitorSource()
    const identifyBare = async () => {
      const visitorId = next()
      if (visitorId === null) return NOTHING_LEFT
      return bareIdentification(postgres, raw.tenantId, { visitorId, email: newEmail(), ...(form ? { form } : {}) })
    }
    return repeat(CONNECTIONS, seconds, identifyBare, warmUpTimes)
  }
  const measure = (headers: Record<string, string>, request: (visitorId: string) => { path: string; body: string }) => {
    const next = visitorSource()
    const nextRequest = () => {
      const visitorId = next()
      return visitorId === null ? null : request(visitorId)
    }
    return load({ connections: CONNECTIONS, seconds, warmUpTimes, headers, next: nextRequest })
  }
  const [identifications, submissions]: [Round[], Round[]] = [[], []]
  while (identifications.length < ROUNDS) {
    progress(`POST /v1/identify and forms, round ${identifications.length + 1}`)
    identifications.push({ bare: await measureBare(), measured: await measure(withKey(raw.apiKey), identificationOf) })
    submissions.push({
      bare: await measureBare(FORM),
      measured: await measure({ origin: `https://${site}` }, (visitor_id) => {
        const body = { visitor_id, contact_data: { email: newEmail(), firstName: FORM.properties.firstname } }
        return { path: `/v1/public/form-submission/${raw.tenantId}/${FORM.formId}`, body: JSON.stringify(body) }
      }),
    })
  }
  reportMiddle(`POST /v1/identify, ${CONNECTIONS} connections`, identifications)
  reportMiddle(`form submission, ${CONNECTIONS} connections`, submissions)
}

interface Round {
  bare: Load
  measured: Load
}

function reportMiddle(what: string, rounds: readonly Round[]): void {
  const ratioOf = ({ bare, measured }: Round) => measured.perSecond / bare.perSecond
  const sorted = rounds.toSorted((a, b) => ratioOf(a) - ratioOf(b))
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (!middle) return
  const note = `; ratios ${sorted.map((round) => ratioOf(round).toFixed(2)).join(', ')}`
  reportRate(what, middle.measured, { ...middle.bare, of: 'bare transactions' }, '0.40', { note })
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
  const { path, body } = identificationOf(nextVisitor() ?? '')
  const response = await fetch(URL_OF_SERVICE + path, { method: 'POST', headers, body })
  const { contact_id } = (await response.json()) as { contact_id: string }
  if ((await eventsOf(contact_id)) === 0) throw new Error('An identified visitor brings no events.')
}

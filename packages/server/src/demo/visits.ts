import { setTimeout as wait } from 'node:timers/promises'
import type { EventRecord } from '../journal/event-record.ts'
import type { App } from '../platform/http/app-types.ts'
import { type SampleVisitor, sampleSession, sampleVisitor } from '../seed/journeys.ts'
import { type SampleContact, sampleCompany, sampleContact } from '../seed/people.ts'
import { createRandom, type Random } from '../seed/random.ts'

const SECONDS_BETWEEN_VISITS = [12, 30] as const
const SECONDS_BETWEEN_EVENTS = [3, 9] as const
const VISITORS_REMEMBERED_MAX = 40
const RETURNING_SHARE = 0.4
/** Of the visits that end, how many leave an address: in the form, or by signing in. */
const FORM_SHARE = 0.12
const SIGN_IN_SHARE = 0.12
/** Of the new people, how many work for one of these companies. */
const EMPLOYED_SHARE = 0.8
const COMPANIES = 27
/** What people say of themselves in a form or when they sign up. */
const TOLD = ['firstname', 'lastname', 'company', 'jobtitle', 'country', 'city'] as const

/** A visitor, and who they turn out to be. */
interface Guest {
  visitor: SampleVisitor
  person: SampleContact
}

interface Shop {
  tenantId: string
  /** Host of the visited pages. */
  site: string
}

/**
 * Lets people visit the demo's site until the signal: page by page, through the endpoints that a browser calls. Some
 * return, some sign in, some fill in the form. Never throws.
 */
export async function receiveVisits(app: App, shop: Shop, signal: AbortSignal): Promise<void> {
  const random = createRandom(Date.now())
  const guests: Guest[] = []
  const pause = ([min, max]: readonly [number, number]) =>
    wait(random.integer(min * 1_000, max * 1_000), undefined, { signal, ref: false })
  try {
    for (;;) {
      const guest = nextGuest(random, guests)
      void visit(app, shop, random, guest, () => pause(SECONDS_BETWEEN_EVENTS)).catch(() => {})
      await pause(SECONDS_BETWEEN_VISITS)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function nextGuest(random: Random, known: Guest[]): Guest {
  if (known.length > 0 && random.chance(RETURNING_SHARE)) return random.pick(known)
  const company = random.chance(EMPLOYED_SHARE) ? sampleCompany(random, random.integer(0, COMPANIES - 1)) : undefined
  const person = sampleContact(random, random.integer(1_000, 999_999), company)
  const guest = { visitor: sampleVisitor(random, null), person }
  known.push(guest)
  if (known.length > VISITORS_REMEMBERED_MAX) known.shift()
  return guest
}

async function visit(
  app: App,
  { tenantId, site }: Shop,
  random: Random,
  { visitor: { userAgent, visitorId, screen }, person: { email, properties } }: Guest,
  pause: () => Promise<unknown>,
): Promise<void> {
  const headers = { origin: `https://${site}`, 'user-agent': userAgent }
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, headers, payload })
  const visitor = { visitor_id: visitorId, context: { screen } }
  const events = sampleSession(random, tenantId, site, { visitorId, userAgent, screen, contactId: null }, 0)
  for (const event of events) {
    await post('/track', { ...visitor, session_id: event.session_id, events: [toTracked(event)] })
    await pause()
  }
  const ending = random.next()
  if (ending > FORM_SHARE + SIGN_IN_SHARE) return
  const told = {
    email,
    ...Object.fromEntries(TOLD.flatMap((key) => (key in properties ? [[key, properties[key]]] : []))),
  }
  if (ending < FORM_SHARE) {
    const form = { visitor_id: visitorId, contact_data: told }
    await post(`/v1/public/form-submission/${tenantId}/newsletter`, form)
  } else {
    await post('/track', { ...visitor, identify: { traits: told } })
  }
}

function toTracked({ event, url, title, referrer, data }: EventRecord) {
  return { event, url, referrer, ...(title === '' ? {} : { title }), data: JSON.parse(data) as object }
}
